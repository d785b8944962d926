// Compares the reference on the GPU with the reference on the host, which the host tests check.
#include "support/attention_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/device_tensor.hpp"
#include "support/kernel_grid.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

class AttentionReferenceOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

INSTANTIATE_TEST_SUITE_P(Precisions, AttentionReferenceOnGpu, testing::ValuesIn(kAllOf<Precision>),
                         [](const auto& one) { return std::string{to_string(one.param)}; });

/// Elements on the device, and the same elements in their stored form on the host.
struct Tensor {
  DeviceTensor device;
  std::vector<std::byte> bytes;

  Tensor(const DeviceTensor::Extents& extents, Precision precision, unsigned seed)
      : device{extents, precision, Layout::kTransposed, Guard::k3xTf32} {
    std::mt19937_64 engine{seed};
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    for (double& value : values) value = normal(engine);
    device.write(values);
    bytes = device.bytes();
  }
  [[nodiscard]] TensorView on_host() { return {.data = bytes.data(), .strides = device.view().strides}; }
};

void expect_same(const std::vector<Uncertain>& host, const std::vector<Uncertain>& device, const char* name) {
  ASSERT_EQ(host.size(), device.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    // float64 on both sides: sums of at most 33 terms, exp() within an ulp or two.
    ASSERT_NEAR(host[i].value, device[i].value, 1e-12 * std::max(1.0, std::abs(host[i].value))) << name << " " << i;
    ASSERT_NEAR(host[i].variance, device[i].variance, 1e-9 * host[i].variance) << name << " " << i;
  }
}

TEST_P(AttentionReferenceOnGpu, IsTheHosts) {
  for (const SequenceShape& lengths : {SequenceShape{33, 33, true}, SequenceShape{17, 5, false}}) {
    const AttentionShape shape{.batch = 2,
                               .heads = 3,
                               .seq_q = lengths.seq_q,
                               .seq_kv = lengths.seq_kv,
                               .head_dim = 16,
                               .causal = lengths.causal};
    Tensor q{{2, 3, shape.seq_q, 16}, GetParam(), 1};
    Tensor k{{2, 3, shape.seq_kv, 16}, GetParam(), 2};
    Tensor v{{2, 3, shape.seq_kv, 16}, GetParam(), 3};
    Tensor grad_o{{2, 3, shape.seq_q, 16}, GetParam(), 4};
    const AttentionProblem problem{.shape = shape, .precision = GetParam(), .scale = 0.25F};
    const AttentionReference host =
        attention_reference(problem, q.on_host(), k.on_host(), v.on_host(), grad_o.on_host(), Executor::kHost);
    const AttentionReference device = attention_reference(problem, q.device.view(), k.device.view(), v.device.view(),
                                                          grad_o.device.view(), Executor::kDevice);
    expect_same(host.o, device.o, "o");
    expect_same(host.lse, device.lse, "lse");
    expect_same(host.dq, device.dq, "dq");
    expect_same(host.dk, device.dk, "dk");
    expect_same(host.dv, device.dv, "dv");
  }
}

TEST(DeviceTensorOnGpu, KnowsWhichBytesAreNotItsElements) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kPacked, Layout::kUnaligned}) {
    SCOPED_TRACE(to_string(layout));
    DeviceTensor tensor{{2, 3, 5, 16}, Precision::kBf16, layout};
    EXPECT_TRUE(std::isnan(tensor.read().front()));
    std::vector<double> values(2 * 3 * 5 * 16);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 256);
    tensor.write(values);
    EXPECT_EQ(tensor.read(), values);
    EXPECT_EQ(tensor.overwritten_gap(), std::nullopt);
    TBENCH_CUDA_CHECK(cudaMemset(static_cast<std::byte*>(tensor.view().data) - 1, 0, 1));
    EXPECT_EQ(tensor.overwritten_gap().value_or(""),
              "byte -1 from the first element was written to; it belongs to no element");
  }
}

}  // namespace
}  // namespace tbench::kernels

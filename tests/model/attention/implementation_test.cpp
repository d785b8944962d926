#include "model/attention/implementation.hpp"

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "model/attention/verify.hpp"
#include "tests/model/attention/attention_support.hpp"

namespace tbench::model {
namespace {

using testing::IsSupersetOf;

TEST(AttentionImpls, NamesInTheirOrder) {
  const std::vector<std::string> names = attention_impl_names();
  ASSERT_GE(names.size(), 4U);
  EXPECT_EQ(names.front(), "naive");
  EXPECT_THAT(names, IsSupersetOf({"naive", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn"}));
}

TEST(AttentionImpls, APrecisionListsThoseThatItChanges) {
  EXPECT_THAT(attention_impl_names(Precision::kFp32), IsSupersetOf({"naive", "sdpa_efficient"}));
  EXPECT_THAT(attention_impl_names(Precision::kTf32), testing::Contains("naive"));
  EXPECT_THAT(attention_impl_names(Precision::kTf32), testing::Not(testing::Contains("sdpa_efficient")));
  EXPECT_THAT(attention_impl_names(Precision::kBf16),
              IsSupersetOf({"naive", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn"}));
}

TEST(AttentionImpls, ANameIsTakenOnce) {
  EXPECT_EQ(attention_impls().find("navie"), nullptr);
  EXPECT_THROW(attention_impls().add(attention_impls().at("naive")), std::invalid_argument);
}

TEST(AttentionImpls, OfLibrariesHaveAMarkOfTheirKernels) {
  for (const char* general : {"naive", "compiled"}) {
    EXPECT_EQ(attention_impls().find(general)->kernel_mark, "") << general;
  }
  for (const char* library : {"sdpa_flash", "sdpa_efficient", "sdpa_cudnn", "flash"}) {
    EXPECT_NE(attention_impls().find(library)->kernel_mark, "") << library;
  }
}

/// Tests run in float64, where an implementation and the reference differ only by rounding of 1e-16.
class CpuImpl : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(CpuImpl, AgreesWithTheReferenceInDouble) {
  const auto& [name, causal] = GetParam();
  const AttentionImpl& impl = attention_impls().at(name);
  const std::int64_t seq_q = 37, seq_kv = causal ? 37 : 41;
  const auto random = [](std::int64_t seq) {
    return at::randn({2, 3, seq, 8}, at::TensorOptions{}.dtype(at::kDouble));
  };
  const double scale = 0.3;
  const AttentionOperands operands =
      operands_for(impl, random(seq_q), random(seq_kv), random(seq_kv), random(seq_q), scale, causal);
  const AttentionState state = impl.forward(operands, /*for_backward=*/true);
  const auto pairs = [](const at::Tensor& tensor) { return tensor.detach().flatten(0, 1); };
  const AttentionReference expected = attention_reference({.q = pairs(operands.q),
                                                           .k = pairs(operands.k),
                                                           .v = pairs(operands.v),
                                                           .grad_o = pairs(operands.grad_o),
                                                           .scale = scale,
                                                           .causal = causal});
  EXPECT_TRUE(pairs(state.output).allclose(expected.o, 1e-9, 1e-9));
  EXPECT_TRUE(!state.lse.defined() || pairs(state.lse).allclose(expected.lse, 1e-9, 1e-9));
  // If the state is kept, a second backward gives the same gradients.
  for (const bool keep_state : {true, false}) {
    const AttentionGradients gradients = impl.backward(operands, state, keep_state);
    EXPECT_TRUE(pairs(gradients.dq).allclose(expected.dq, 1e-9, 1e-9));
    EXPECT_TRUE(pairs(gradients.dk).allclose(expected.dk, 1e-9, 1e-9));
    EXPECT_TRUE(pairs(gradients.dv).allclose(expected.dv, 1e-9, 1e-9));
  }
  EXPECT_FALSE(operands.q.grad().defined());  // gradients are returned, not accumulated
}

INSTANTIATE_TEST_SUITE_P(All, CpuImpl, testing::Combine(testing::Values("naive", "sdpa_flash"), testing::Bool()));

}  // namespace
}  // namespace tbench::model

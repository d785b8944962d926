// Compares AdamW's kernel with float64 formulas: whole and partial chunks, many tensors, addresses of any alignment,
// and the effect of its scalars on the device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "support/device_array.hpp"
#include "tbench/kernels/adamw.hpp"

namespace tbench::kernels {
namespace {

constexpr double kU = 0x1p-24;

struct StepOptions {
  double number{10};
  std::optional<Precision> copy{};
  Precision gradient{Precision::kFp32};
  std::int64_t offset{};  // offset of every array but the gradient, in elements
  double scale{};         // scale of the gradients; 0: none
  bool found_inf{};
  std::optional<int> max_blocks{};
};

struct HostTensor {
  Doubles p, g, m, v;
};

HostTensor random_tensor(std::int64_t count, unsigned seed) {
  HostTensor tensor{.p = normal_values(count, Precision::kFp32, seed),
                    .g = normal_values(count, Precision::kFp32, seed + 1),
                    .m = normal_values(count, Precision::kFp32, seed + 2),
                    .v = normal_values(count, Precision::kFp32, seed + 3)};
  for (double& v : tensor.v) v = v * v;
  tensor.v = stored(tensor.v, Precision::kFp32);
  return tensor;
}

class AdamWOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }

  struct Arrays {
    DeviceArray p, g, m, v;
    std::optional<DeviceArray> copy;
  };

  static constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8, kDecay = 0.01;

  /// @return  parameters, moments and copies after the step, tensor by tensor
  static std::vector<Doubles> run(const std::vector<HostTensor>& hosts, const StepOptions& options) {
    std::vector<std::unique_ptr<Arrays>> arrays;
    std::vector<AdamWTensor> tensors;
    for (const HostTensor& host : hosts) {
      const std::int64_t offset = options.offset;
      arrays.push_back(std::make_unique<Arrays>(
          Arrays{{host.p, Precision::kFp32, offset},
                 {host.g, options.gradient},
                 {host.m, Precision::kFp32, offset},
                 {host.v, Precision::kFp32, offset},
                 options.copy ? std::optional<DeviceArray>{std::in_place, std::ssize(host.p), *options.copy, offset}
                              : std::nullopt}));
      const Arrays& one = *arrays.back();
      tensors.push_back({.parameter = one.p.floats(),
                         .gradient = one.g.data(),
                         .first_moment = one.m.floats(),
                         .second_moment = one.v.floats(),
                         .copy = one.copy ? one.copy->data() : nullptr,
                         .count = one.p.count()});
    }
    const DeviceArray number{Doubles{options.number}, Precision::kFp32};
    const DeviceArray found_inf{Doubles{options.found_inf ? 1.0 : 0.0}, Precision::kFp32};
    const DeviceArray scale{Doubles{options.scale}, Precision::kFp32};
    adamw(tensors,
          {.learning_rate = kRate,
           .beta1 = kBeta1,
           .beta2 = kBeta2,
           .epsilon = kEpsilon,
           .weight_decay = kDecay,
           .copy_precision = options.copy.value_or(Precision::kBf16),
           .gradient_precision = options.gradient,
           .step = number.floats(),
           .found_inf = found_inf.floats(),
           .gradient_scale = options.scale != 0 ? scale.floats() : nullptr},
          nullptr, options.max_blocks);
    std::vector<Doubles> after;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "tensor " << i << " of " << hosts[i].p.size() << " elements");
      if (options.found_inf) {
        expect_unchanged(hosts[i], *arrays[i]);
      } else {
        expect_step(hosts[i], *arrays[i], options);
      }
      for (const DeviceArray* array : {&arrays[i]->p, &arrays[i]->m, &arrays[i]->v}) after.push_back(array->read());
      if (arrays[i]->copy) after.push_back(arrays[i]->copy->read());
    }
    return after;
  }

 private:
  static void expect_unchanged(const HostTensor& host, const Arrays& arrays) {
    EXPECT_EQ(arrays.p.read(), host.p);
    EXPECT_EQ(arrays.m.read(), host.m);
    EXPECT_EQ(arrays.v.read(), host.v);
    if (arrays.copy) {
      for (const double element : arrays.copy->read()) ASSERT_TRUE(std::isnan(element));
    }
  }

  static void expect_step(const HostTensor& host, const Arrays& arrays, const StepOptions& options) {
    const double correction1 = 1 - std::pow(kBeta1, options.number), correction2 = 1 - std::pow(kBeta2, options.number);
    HostTensor next = host;
    Doubles m_allowed(host.p.size()), p_allowed(host.p.size());
    for (std::size_t i = 0; i < host.p.size(); ++i) {
      const double g = options.scale != 0 ? host.g[i] / options.scale : host.g[i];
      next.m[i] = kBeta1 * host.m[i] + (1 - kBeta1) * g;
      next.v[i] = kBeta2 * host.v[i] + (1 - kBeta2) * g * g;
      const double denominator = std::sqrt(next.v[i] / correction2) + kEpsilon;
      next.p[i] = host.p[i] * (1 - kRate * kDecay) - kRate * next.m[i] / correction1 / denominator;
      // Each term of m is rounded at most three times; the number subtracted from p is rounded another twenty times.
      m_allowed[i] = 4 * kU * (std::abs(kBeta1 * host.m[i]) + std::abs((1 - kBeta1) * g));
      p_allowed[i] = 3 * kU * std::abs(host.p[i]) +
                     kRate / correction1 / denominator * (m_allowed[i] + 20 * kU * std::abs(next.m[i]));
    }
    expect_close("m", arrays.m.read(), next.m, [&](std::size_t i) { return m_allowed[i]; });
    expect_close("v", arrays.v.read(), next.v, [&](std::size_t i) { return 6 * kU * next.v[i]; });
    const Doubles p = arrays.p.read();
    expect_close("p", p, next.p, [&](std::size_t i) { return p_allowed[i]; });
    EXPECT_EQ(arrays.g.read().size(), host.g.size());
    if (options.copy) {
      // The copy must be the parameters that the kernel left, rounded once.
      expect_close("copy", arrays.copy->read(), stored(p, *options.copy), [](std::size_t) { return 0.0; });
    }
  }
};

TEST_F(AdamWOnGpu, GradientsOf16Bits) {
  for (const std::optional<Precision> copy : {std::optional<Precision>{}, std::optional{Precision::kBf16}}) {
    for (const std::int64_t count : {1, 1023, 1024, 1025, 6144, 10001}) {
      HostTensor tensor = random_tensor(count, 5);
      tensor.g = stored(tensor.g, Precision::kBf16);
      run({tensor}, {.copy = copy, .gradient = Precision::kBf16});
      run({tensor, tensor}, {.copy = copy, .gradient = Precision::kBf16, .offset = 1, .scale = 8});
    }
  }
}

TEST_F(AdamWOnGpu, ChunksWholeAndPartial) {
  for (const std::optional<Precision> copy :
       {std::optional<Precision>{}, std::optional{Precision::kBf16}, std::optional{Precision::kFp16}}) {
    for (const std::int64_t count : {1, 3, 255, 1023, 1024, 1025, 2049, 6144, 10001}) {
      run({random_tensor(count, 1)}, {.copy = copy});
    }
  }
}

TEST_F(AdamWOnGpu, AnyAlignment) {
  for (const std::int64_t offset : {1, 2, 3, 4}) {
    run({random_tensor(5000, 2)}, {.copy = Precision::kBf16, .offset = offset});
  }
}

TEST_F(AdamWOnGpu, ManyTensorsAndEmptyOnesAmongThem) {
  std::vector<HostTensor> tensors;
  for (unsigned i = 0; i < 140; ++i) tensors.push_back(random_tensor(i % 7 == 3 ? 0 : 1 + i * 97 % 4500, i));
  run(tensors, {.copy = Precision::kBf16});
}

TEST_F(AdamWOnGpu, BiasCorrectionsOfTheFirstStepAndOfALateOne) {
  for (const double number : {1.0, 2.0, 1000.0, 100'000.0}) run({random_tensor(4096, 3)}, {.number = number});
}

TEST_F(AdamWOnGpu, GradientsAreDividedByTheScale) {
  run({random_tensor(4100, 4)}, {.copy = Precision::kFp16, .scale = 1024});
}

TEST_F(AdamWOnGpu, ASkippedStepChangesNothing) {
  run({random_tensor(4100, 5), random_tensor(1, 6)}, {.copy = Precision::kBf16, .found_inf = true});
}

TEST_F(AdamWOnGpu, FewBlocksLeaveTheBitsOfMany) {
  std::vector<HostTensor> tensors;
  for (const std::int64_t count : {4096, 1, 0, 1023, 1024, 70'001, 4097, 12'288, 255}) {
    tensors.push_back(random_tensor(count, static_cast<unsigned>(count)));
    tensors.back().g = stored(tensors.back().g, Precision::kBf16);
  }
  for (const Precision gradient : {Precision::kBf16, Precision::kFp32}) {
    for (const std::optional<Precision> copy : {std::optional<Precision>{}, std::optional{Precision::kBf16}}) {
      for (const std::int64_t offset : {0, 1}) {
        StepOptions options{.copy = copy, .gradient = gradient, .offset = offset};
        const std::vector<Doubles> many = run(tensors, options);
        for (const int blocks : {1, 2, 5, 33, 1000}) {
          options.max_blocks = blocks;
          EXPECT_EQ(run(tensors, options), many) << blocks << " blocks";
        }
      }
    }
  }
}

TEST_F(AdamWOnGpu, FewBlocksTakeManyTensorsAndSkipAStep) {
  std::vector<HostTensor> tensors;
  for (unsigned i = 0; i < 70; ++i) tensors.push_back(random_tensor(1 + i * 1097 % 9500, i));
  run(tensors, {.copy = Precision::kFp16, .max_blocks = 7});
  run({random_tensor(4100, 5)}, {.copy = Precision::kBf16, .found_inf = true, .max_blocks = 3});
}

TEST_F(AdamWOnGpu, WhatIsNotFiniteStaysInItsElement) {
  HostTensor tensor = random_tensor(4096, 7);
  tensor.g[17] = std::numeric_limits<double>::quiet_NaN();
  tensor.p[2050] = std::numeric_limits<double>::infinity();
  run({tensor}, {.copy = Precision::kBf16});
}

}  // namespace
}  // namespace tbench::kernels

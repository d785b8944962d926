// Tests how often the verification of the models' operations rejects a correct result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::model {
namespace {

/// Two shapes with 21 and 32 tokens, used alternately.
const std::vector<KernelShape> kCheapShapes{
    {{.name = "odd", .d_model = 66, .d_ff = 131, .num_layers = 1, .num_heads = 3}, 3, 7},
    {{.name = "narrow", .d_model = 16, .d_ff = 40, .num_layers = 1, .num_heads = 2}, 1, 32}};

TEST(KernelFalseRejections, AtMostOneInAThousandSeeds) {
  const OneThread one_thread;
  const std::vector<KernelVariant> variants = kernel_variants_in({Precision::kFp32, Precision::kBf16});
  std::uint64_t rejections = 0;
  double worst = 0;
  const std::uint64_t seeds = false_rejection_seeds();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const KernelVariant& variant = variants.at(seed % variants.size());
    KernelConfig config =
        kernel_config(variant, kCheapShapes.at(seed / variants.size() % kCheapShapes.size()), DeviceKind::kCpu);
    config.seed = seed;
    const auto operation = make_kernel_case(config);
    operation->build();
    for (const Verification& verdict : {operation->verify(), operation->verify_again().value()}) {
      worst = std::max(worst, verdict.worst_error);
      if (verdict.passed) continue;
      ++rejections;
      std::cout << fmt::format("seed {}, {}: {}\n", seed, name_of(variant), verdict.message);
    }
  }
  std::cout << fmt::format("{} of {} seeds rejected; the largest error is {:.2f} of its tolerance\n", rejections, seeds,
                           worst);
  EXPECT_LE(rejections, seeds / 1000);
}

}  // namespace
}  // namespace tbench::model

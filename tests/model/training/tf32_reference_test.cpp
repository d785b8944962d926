// Tests how much error a reference with TF32 products adds to the errors that are checked. The CPU clears the digits of
// float32 operands that a tensor core does not read, for the whole process.
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

bool is_cut = false;
std::int64_t cuts = 0;

/// Keeps 11 of float32's 24 digits. A step in bf16 has no float32 products, so only the reference's products change.
at::Tensor cut(const at::Tensor& x) {
  if (!is_cut || x.scalar_type() != at::kFloat) return x;
  ++cuts;
  return x.contiguous().view(at::kInt).bitwise_and(static_cast<std::int32_t>(0xFFFFE000U)).view(at::kFloat);
}

at::Tensor mm_of_cut(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
  return at::mm_out(product, cut(a), cut(b));
}

at::Tensor bmm_of_cut(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor product = at::empty({a.size(0), a.size(1), b.size(2)}, a.options());
  return at::bmm_out(product, cut(a), cut(b));
}

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("mm", &mm_of_cut);
  library.impl("bmm", &bmm_of_cut);
}

ModelConfig bf16_step(std::int64_t layers, std::uint64_t seed) {
  return {
      .size = {.name = "narrow", .d_model = 64, .d_ff = 256, .num_layers = layers, .num_heads = 4, .vocab_size = 300},
      .context = 32,
      .batch = 2,
      .pass = Pass::kForwardBackward,
      .precision = Precision::kBf16,
      .impl = seed % 2 == 0 ? "eager" : "sdpa",
      .device = DeviceKind::kCpu,
      .seed = seed};
}

double worst_error(const ModelConfig& config, bool of_tf32) {
  is_cut = of_tf32;
  Trainer trainer{config, model_impls().at(config.impl)};
  const double worst = verify_trainer(trainer, config.seed + 1).worst_error;
  is_cut = false;
  return worst;
}

/// Compares the errors of a correct step with a TF32 reference and with an exact one. The ratio may not exceed the
/// ratio of the loss's tolerances.
TEST(Tf32Reference, AddsLessThanItIsAllowed) {
  const OneThread one_thread;
  const ModelConfig any = bf16_step(2, 1);
  const double allowed = rounding_tolerance(any, Quantity::kLoss, 1, ReferenceProducts::kTf32).relative /
                         rounding_tolerance(any, Quantity::kLoss, 1).relative;
  double most = 0;
  for (const std::int64_t layers : {2, 6, 24}) {
    for (std::uint64_t seed = 1; seed <= 60 / static_cast<std::uint64_t>(layers); ++seed) {
      const double exact = worst_error(bf16_step(layers, seed), false);
      const double tf32 = worst_error(bf16_step(layers, seed), true);
      EXPECT_NE(tf32, exact);
      most = std::max(most, tf32 / exact);
    }
  }
  std::cout << fmt::format("the largest error of a case grew by a factor of {:.3f} at most; allowed: {:.3f}\n", most,
                           allowed);
  EXPECT_LE(most, allowed);
  EXPECT_GT(cuts, 0);
}

}  // namespace
}  // namespace tbench::model

#include "model/training/expected_losses.hpp"

#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/maximum.h>

#include <cmath>

namespace tbench::model {
namespace {

/// Returns the norm of each row: [tokens].
at::Tensor norm_of_rows(const at::Tensor& matrix) { return at::linalg_vector_norm(matrix, 2.0, at::IntArrayRef{-1}); }

/// Round-offs of float32 in lse, relative to 1 + |lse|, from the kernel's sum of exponentials and from the
/// difference between lse and a loss.
constexpr double kFloatRoundings = 16;
/// Allowed fluctuation of the errors of a token's logits.
constexpr double kFluctuation = 4;

}  // namespace

// To first order, the error of lse is the sum over all words of p e, where p is the softmax of a token's logits and e
// their errors, which are at most `a`. The errors have two parts. The roundings of single logits are independent, and
// their sum is at most a times the norm of p. The other part is the error of the final norm's output, which all logits
// share. The mean of the weight's rows under p has the direction of this output, and 1 / sqrt(d_model) of a random
// error has this direction. To second order, the sum is half of the variance of e, which is less than a^2. The parts of
// first order are taken kFluctuation times, but lse is never allowed a larger error than a logit.
ExpectedLosses expected_losses(const ModelConfig& config, const at::Tensor& logits, const at::Tensor& targets,
                               ReferenceProducts products) {
  const std::int64_t words = logits.size(-1);
  const Tolerance of_logits = rounding_tolerance(config, Quantity::kLogits, config.context * words, products);
  ExpectedLosses expected{.lse = at::logsumexp(logits, -1),
                          .of_targets = at::gather(logits, -1, targets.unsqueeze(-1)).squeeze(-1),
                          .lse_allowance = {},
                          .target_allowance = {},
                          .target_relative = of_logits.relative};
  const at::Tensor norms = norm_of_rows(logits).to(at::kDouble);
  const at::Tensor scale = norms.div(std::sqrt(static_cast<double>(words)));
  const at::Tensor of_float =
      expected.lse.abs().to(at::kDouble).add(1.0).mul(kFloatRoundings * unit_roundoff(Precision::kFp32));
  const at::Tensor shares = norm_of_rows(at::exp(logits.sub(expected.lse.unsqueeze(-1))))
                                .to(at::kDouble)
                                .add(1.0 / std::sqrt(static_cast<double>(config.size.d_model)))
                                .mul(kFluctuation)
                                .clamp_max(1.0);
  const at::Tensor a = scale.mul(of_logits.of_rms + of_logits.relative);
  expected.lse_allowance = a.mul(shares).add(a.square()).add(of_float);
  expected.target_allowance = at::maximum(scale, scale.square().mean().sqrt()).mul(of_logits.of_rms).add(of_float);
  return expected;
}

}  // namespace tbench::model

// Two operations of a fused step, each of which replaces several operations of other steps.
// add_rmsnorm: the addition to the residual stream and the norm after it. Inputs: x [tokens, d_model] and w [d_model],
// float32 in every precision, as autocast leaves the stream and the weight; the sublayer's output [tokens, d_model] in
// the precision's type.
// cross_entropy_in_place: every token's loss, and the gradient of the losses' sum, which overwrites the logits. Inputs:
// logits [tokens, vocab_size], targets [tokens] int64.
#include <ATen/ops/add.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/scatter_add.h>

#include <cmath>
#include <numbers>

#include "model/layers/layers.hpp"
#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

/// Returns the traffic. Backward reads the sum from the forward pass and the sum's gradient from the layers above. It
/// writes dx in float32 for the stream and, unless the sublayer's type is float32, too, in that type for the products
/// below.
KernelBytes add_rmsnorm_bytes(const KernelConfig& config) {
  const std::int64_t elements = config.tokens() * config.size.d_model;
  const std::int64_t wide = elements * storage_bytes(Precision::kFp32);
  const std::int64_t narrow = elements * storage_bytes(config.precision);
  const std::int64_t weight = config.size.d_model * storage_bytes(Precision::kFp32);
  if (config.pass == KernelPass::kForward) return {.read = wide + narrow + weight, .written = wide + narrow};
  const std::int64_t of_sublayer = config.precision == Precision::kFp32 ? 0 : narrow;
  return {.read = 2 * wide + narrow + weight, .written = wide + of_sublayer + weight};
}

/// Fills the inputs and the gradients: the gradient of the sum, float32, and the gradient of the normed output.
void add_rmsnorm_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const std::int64_t tokens = config.tokens(), width = config.size.d_model;
  add_normal_input(operands, {tokens, width}, at::kFloat);
  add_normal_input(operands, {tokens, width});
  add_normal_input(operands, {width}, at::kFloat);
  if (config.pass == KernelPass::kForward) return;
  add_normal_gradient(operands, {tokens, width}, at::kFloat);
  add_normal_gradient(operands, {tokens, width});
}

/// Returns the expected results of rmsnorm, with two differences. Only the sublayer's gradient and the normed output
/// are stored in the precision's type. dx = rstd (g - n mean(g n)) + dsum may cancel, so that an element is off by
/// round-offs of its row's largest term. n is computed from a sum that was rounded once.
std::vector<KernelResult> add_rmsnorm_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor sum = exact(operands.inputs[0]).add(exact(operands.inputs[1]));
  const at::Tensor w = exact(operands.inputs[2]);
  const at::Tensor inverse = at::rsqrt(sum.square().mean(-1, /*keepdim=*/true).add(kRmsNormEpsilon));
  const at::Tensor n = sum.mul(inverse);
  const std::int64_t width = sum.size(-1), tokens = sum.size(0);
  const double inverse_roundoffs = 6 + positive_sum_roundoffs(width, tokens) / 2;
  const auto rows = static_cast<double>(tokens);
  if (operands.config.pass == KernelPass::kForward) {
    return {{"sum", sum, kernel_tolerance(Precision::kFp32, {.relative = 1.01})},
            {"normed", n.mul(w),
             kernel_tolerance(precision, {.relative = inverse_roundoffs + 3,
                                          .stored = 1.01,
                                          .norm = 6 + std::sqrt(static_cast<double>(width)) / 6,
                                          .stored_norm = kRoundingRms,
                                          .degrees = rows})}};
  }
  const at::Tensor dsum = exact(operands.gradients[0]);
  const at::Tensor dy = exact(operands.gradients[1]);
  const at::Tensor g = dy.mul(w);
  const at::Tensor mean = g.mul(n).mean(-1, /*keepdim=*/true);
  const at::Tensor dx = g.sub(n.mul(mean)).mul(inverse).add(dsum);
  const double of_terms = (8 + 2 * inverse_roundoffs) * unit_roundoff(Precision::kFp32);
  const at::Tensor sizes = g.mul(n).abs().mean(-1, /*keepdim=*/true);
  const at::Tensor allowance =
      g.abs().add(n.abs().mul(sizes)).mul(inverse).add(dsum.abs()).amax(-1, /*keepdim=*/true).mul(of_terms);
  const double z = largest_deviation(width);
  return {{"dx", dx, kernel_tolerance(Precision::kFp32, {.relative = 2}), allowance},
          {"dsublayer", dx, kernel_tolerance(precision, {.relative = 2, .stored = 1.01}), allowance},
          {"dw", dy.mul(n).sum(0),
           kernel_tolerance(Precision::kFp32, {.relative = 8 + inverse_roundoffs,
                                               .of_rms = walk_bound(static_cast<double>(width), kKernelBudget) *
                                                             walk_roundoffs(rows) * z +
                                                         z * inverse_roundoffs})}};
}

/// Runs the operators that autocast would run: type promotion makes the sum float32, and the next product casts its
/// input.
std::vector<at::Tensor> add_rmsnorm_forward(const KernelOperands& operands) {
  const at::Tensor sum = operands.inputs[0].add(operands.inputs[1]);
  const at::Tensor& w = operands.inputs[2];
  return {sum, at::rms_norm(sum, w.sizes(), w, kRmsNormEpsilon).to(operands.inputs[1].scalar_type())};
}

std::vector<at::Tensor> add_rmsnorm_backward(const KernelOperands& operands) {
  std::vector<at::Tensor> gradients = graph_gradients(operands);
  return {gradients[0], gradients[1], gradients[2]};
}

KernelImpl add_rmsnorm_aten() {
  return {.name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &add_rmsnorm_forward);
              },
          .forward = &add_rmsnorm_forward,
          .backward = &add_rmsnorm_backward};
}

KernelBytes cross_entropy_in_place_bytes(const KernelConfig& config) {
  constexpr std::int64_t kLossBytes = 4, kTargetIdBytes = 8;
  const std::int64_t logits = config.tokens() * kVocabSize * storage_bytes(config.precision);
  return {.read = logits + config.tokens() * kTargetIdBytes, .written = logits + config.tokens() * kLossBytes};
}

void cross_entropy_in_place_fill(KernelOperands& operands) {
  add_normal_input(operands, {operands.config.tokens(), kVocabSize});
  add_token_input(operands);
}

/// Returns the expected results of cross_entropy, except that nothing between the logits and the gradient is stored in
/// the precision's type. A loss is the difference of two numbers of at most `largest`; one of them has the error of the
/// row's sum, relative to 1.
std::vector<KernelResult> cross_entropy_in_place_expect(const KernelOperands& operands) {
  const at::Tensor logits = exact(operands.inputs[0]);
  const at::Tensor targets = operands.inputs[1].unsqueeze(-1);
  const at::Tensor log_sum = at::logsumexp(logits, -1, /*keepdim=*/true);
  const double largest = std::log(static_cast<double>(kVocabSize)) + 0.5 + largest_deviation(logits.numel());
  const double of_sum = positive_sum_roundoffs(kVocabSize, logits.size(0));
  const at::Tensor losses = log_sum.sub(at::gather(logits, -1, targets)).squeeze(-1);
  const at::Tensor difference =
      at::scatter_add(at::exp(logits.sub(log_sum)), -1, targets, at::ones_like(log_sum).neg());
  return {{"losses", losses, kernel_tolerance(Precision::kFp32, {.of_rms = 2 * largest + 8 + of_sum})},
          {"dlogits", difference,
           kernel_tolerance(operands.config.precision, {.relative = 2 * largest + 8 + of_sum, .stored = 1.01})}};
}

/// Computes log-probabilities in float32, the losses from them, their exponentials minus 1 at the targets, and casts
/// these into the logits.
std::vector<at::Tensor> cross_entropy_in_place_aten_step(const KernelOperands& operands) {
  at::Tensor logits = operands.inputs[0];
  const at::Tensor targets = operands.inputs[1].unsqueeze(-1);
  at::Tensor log_probabilities = at::log_softmax(logits, -1, at::kFloat);
  const at::Tensor losses = at::gather(log_probabilities, -1, targets).squeeze(-1).neg();
  log_probabilities.exp_().scatter_add_(-1, targets, at::ones_like(losses).neg().unsqueeze(-1));
  logits.copy_(log_probabilities);
  return {losses, logits};
}

}  // namespace

KernelOp add_rmsnorm_kernel_op() {
  return {.name = "add_rmsnorm",
          .bytes = &add_rmsnorm_bytes,
          .fill = &add_rmsnorm_fill,
          .expect = &add_rmsnorm_expect,
          .impls = {"impl", {add_rmsnorm_aten(), add_rmsnorm_fused()}}};
}

KernelOp cross_entropy_in_place_kernel_op() {
  return {.name = "cross_entropy_in_place",
          .passes = {KernelPass::kForward},
          .pass_refusal = "its forward pass overwrites the logits with the gradient",
          .is_in_place = true,
          .bytes = &cross_entropy_in_place_bytes,
          .fill = &cross_entropy_in_place_fill,
          .expect = &cross_entropy_in_place_expect,
          .impls = {"impl",
                    {{.name = "aten", .forward = &cross_entropy_in_place_aten_step}, cross_entropy_in_place_fused()}}};
}

}  // namespace tbench::model

// The Kernel family's operations that reduce rows: rmsnorm, softmax and cross_entropy.
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <numbers>

#include "model/layers/layers.hpp"
#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

// rmsnorm: y = x / sqrt(mean(x^2) + eps) * w over rows of d_model. Inputs: x [tokens, d_model] and w [d_model].

KernelBytes rmsnorm_bytes(const KernelConfig& config) {
  const std::int64_t element = storage_bytes(config.precision);
  const std::int64_t weight = config.size.d_model * element;
  const std::int64_t rows = config.tokens() * weight;
  if (config.pass == KernelPass::kForward) return {.read = rows + weight, .written = rows};
  return {.read = 2 * rows + weight, .written = rows + weight};  // x, dy, w; dx, dw
}

void rmsnorm_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {config.tokens(), config.size.d_model});
  add_normal_input(operands, {config.size.d_model});
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_model});
}

/// Returns the expected results. With n = x / rms and g = dy w: dx = (g - n mean(g n)) / rms, dw = sum over tokens of
/// dy n. Sums over a row, of squares or of g n, have float32 roundings that grow with the row's length; the operations
/// after them add a dozen. An implementation from single operations also stores intermediate results: for dx, g, n and
/// both of their products; for dw, n and dy n. The errors that storing adds to dx, apart from the element's own, have
/// the size of n mean(g n): the mean of d products is at most their largest over sqrt(d). The terms of dw add up as a
/// random walk, each with its own roundings from storing.
std::vector<KernelResult> rmsnorm_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor x = exact(operands.inputs[0]);
  const at::Tensor w = exact(operands.inputs[1]);
  const at::Tensor inverse = at::rsqrt(x.square().mean(-1, /*keepdim=*/true).add(kRmsNormEpsilon));
  const at::Tensor n = x.mul(inverse);
  const std::int64_t width = x.size(-1), tokens = x.size(0), count = x.numel();
  const double root = std::sqrt(static_cast<double>(width));
  const double inverse_roundoffs = 4 + positive_sum_roundoffs(width, tokens) / 2;
  const auto rows = static_cast<double>(tokens);
  if (operands.config.pass == KernelPass::kForward) {
    return {{"y", n.mul(w),
             kernel_tolerance(precision, {.relative = inverse_roundoffs + 2,
                                          .stored = 2.01,
                                          .norm = 4 + root / 6,
                                          .stored_norm = std::numbers::sqrt2 * kRoundingRms,
                                          .degrees = rows})}};
  }
  const at::Tensor dy = exact(operands.gradients[0]);
  const at::Tensor g = dy.mul(w);
  const double mean = largest_product(count) / root;
  const double z = largest_deviation(width);
  return {{"dx", g.sub(n.mul(g.mul(n).mean(-1, /*keepdim=*/true))).mul(inverse),
           kernel_tolerance(precision, {.relative = 8 + 2 * inverse_roundoffs,
                                        .of_rms = (8 + 2 * inverse_roundoffs) * (1 + mean),
                                        .stored = 4,
                                        .stored_of_rms = 4 * mean,
                                        .norm = 8 + root,
                                        .stored_norm = 2 * kRoundingRms * (1 + 2 / root),
                                        .degrees = rows})},
          {"dw", dy.mul(n).sum(0),
           kernel_tolerance(
               precision, {.relative = 8 + inverse_roundoffs,
                           .of_rms = walk_bound(static_cast<double>(width), kKernelBudget) * walk_roundoffs(rows) * z +
                                     z * inverse_roundoffs,
                           .stored = 1.01,
                           .stored_of_rms = 2 * z * kRoundingRms *
                                            product_spread(rows, static_cast<double>(width), kKernelBudget)})}};
}

std::vector<at::Tensor> rmsnorm_forward(const KernelOperands& operands) {
  return {at::rms_norm(operands.inputs[0], operands.inputs[1].sizes(), operands.inputs[1], kRmsNormEpsilon)};
}

/// Runs ATen's fused kernels on a GPU; a CPU runs single operations.
KernelImpl rmsnorm_aten() {
  return {.name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &rmsnorm_forward);
              },
          .forward = &rmsnorm_forward,
          .backward = &graph_gradients};
}

// softmax: of one layer's attention scores, over keys. Input: scores [batch, heads, context, context].

std::vector<std::int64_t> softmax_shape(const KernelConfig& config) {
  return {config.batch, config.size.num_heads, config.context, config.context};
}

KernelBytes softmax_bytes(const KernelConfig& config) {
  const std::int64_t scores =
      config.tokens() * config.size.num_heads * config.context * storage_bytes(config.precision);
  if (config.pass == KernelPass::kForward) return {.read = scores, .written = scores};
  return {.read = 2 * scores, .written = scores};  // p, dp; dscores
}

void softmax_fill(KernelOperands& operands) {
  add_normal_input(operands, softmax_shape(operands.config));
  if (operands.config.pass == KernelPass::kBackward) add_normal_gradient(operands, softmax_shape(operands.config));
}

/// Returns the expected results, with dscores = p (dp - sum(p dp)). ATen stores p, p dp and the result. An element near
/// zero is the difference of numbers of the size of p sum(p dp), with all of their roundings. The error of p comes from
/// the rounded difference of at most 2 z in the exponential, five round-offs of its own, and the round-offs of a sum
/// over its row.
std::vector<KernelResult> softmax_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor x = exact(operands.inputs[0]);
  const at::Tensor power = at::exp(x.sub(x.amax(-1, /*keepdim=*/true)));
  const at::Tensor p = power.div(power.sum(-1, /*keepdim=*/true));
  const std::int64_t width = x.size(-1), rows = x.numel() / width;
  const double exponent = 2 * largest_deviation(x.numel());
  const KernelRoundings of_p{.relative = exponent + 5 + positive_sum_roundoffs(width, rows),
                             .stored = 1.01,
                             .norm = exponent / 2 + 5 + std::sqrt(static_cast<double>(width)) / 3,
                             .stored_norm = kRoundingRms,
                             .degrees = static_cast<double>(rows)};
  if (operands.config.pass == KernelPass::kForward) {
    return {{"p", p, kernel_tolerance(precision, of_p)}};
  }
  const at::Tensor dp = exact(operands.gradients[0]);
  const at::Tensor products = p.mul(dp);
  const at::Tensor sum = products.sum(-1, /*keepdim=*/true);
  const double unit = unit_roundoff(precision);
  KernelRoundings of_difference = of_p;
  of_difference.relative += 2;
  of_difference.norm = 0;
  of_difference.stored = 3.02;
  of_difference.degrees = 0;
  // The allowance of a row is its largest p times the error of p dp, which is as large as the error of the sum and of
  // the sum's own terms.
  const double stored = precision == Precision::kFp32 ? 0.0 : 2.0;
  const double float_roundoffs = of_p.relative * unit_roundoff(Precision::kFp32);
  const at::Tensor terms = products.square().sum(-1, /*keepdim=*/true).sqrt();
  const double z = largest_deviation(p.numel() / p.size(-1));
  const at::Tensor allowance = p.amax(-1, /*keepdim=*/true)
                                   .mul(sum.abs()
                                            .mul(stored * unit + float_roundoffs)
                                            .add(terms.mul(z * (stored * kRoundingRms * unit + float_roundoffs))));
  return {{"dscores", products.sub(p.mul(sum)), kernel_tolerance(precision, of_difference), allowance}};
}

void softmax_prepare(KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kBackward) operands.saved = {at::softmax(operands.inputs[0], -1)};
}

KernelImpl softmax_aten() {
  return {.name = "aten",
          .prepare = &softmax_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::softmax(operands.inputs[0], -1)};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor& p = operands.saved[0];
            return {at::_softmax_backward_data(operands.gradients[0], p, -1, p.scalar_type())};
          }};
}

// cross_entropy: the mean of log(sum(exp(logits))) - logits[target]. Inputs: logits [tokens, vocab_size], targets
// [tokens] int64.

constexpr std::int64_t kTargetBytes = 8;

KernelBytes cross_entropy_bytes(const KernelConfig& config) {
  const std::int64_t element = storage_bytes(config.precision);
  const std::int64_t logits = config.tokens() * kVocabSize * element;
  const std::int64_t targets = config.tokens() * kTargetBytes;
  if (config.pass == KernelPass::kForward) return {.read = logits + targets, .written = element};
  return {.read = logits + targets + element, .written = logits};  // logits, targets, dloss; dlogits
}

/// Fills the operands. The loss's gradient is scaled by the number of tokens, like the gradient of a scaled loss.
/// Without this factor, the logits' gradients would be too small for fp16.
void cross_entropy_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {config.tokens(), kVocabSize});
  add_token_input(operands);
  if (config.pass == KernelPass::kBackward) {
    add_normal_gradient(operands, {}).mul_(static_cast<double>(config.tokens()));
  }
}

/// Returns the round-offs of a mean over the tokens whose additions are in the storage type: ATen's CPU kernel adds 16
/// terms one after the other, and then 16 of such sums. The GPU's kernel adds in float32.
double stored_sum_roundoffs(const KernelConfig& config) {
  constexpr std::int64_t kTermsInTurn = 16;
  if (config.device == DeviceKind::kCuda) return 0.0;
  std::int64_t additions = kTermsInTurn;
  for (std::int64_t sums = config.tokens(); sums > kTermsInTurn; sums /= kTermsInTurn) additions += kTermsInTurn;
  return positive_sum_roundoffs(additions, 1);
}

/// Returns the expected results, with dlogits = dloss / tokens (softmax(logits) - 1 at the target). The logarithm of
/// the row's sum is rounded. Single operations also store a log-probability, of at most ln(V) + 1/2 + z, which is
/// rounded before exp() is applied.
std::vector<KernelResult> cross_entropy_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor logits = exact(operands.inputs[0]);
  const at::Tensor targets = operands.inputs[1].unsqueeze(-1);
  const at::Tensor log_sum = at::logsumexp(logits, -1, /*keepdim=*/true);
  const std::int64_t tokens = logits.size(0);
  const auto rows = static_cast<double>(tokens);
  const double largest = std::log(static_cast<double>(kVocabSize)) + 0.5 + largest_deviation(logits.numel());
  const double of_sum = positive_sum_roundoffs(kVocabSize, tokens);
  if (operands.config.pass == KernelPass::kForward) {
    // A loss is near ln(V). Its error comes from the row's sum, with the same error relative to 1, and from the mean
    // over the tokens.
    return {{"loss", log_sum.sub(at::gather(logits, -1, targets)).mean(),
             kernel_tolerance(precision, {.relative = 8 + of_sum / std::log(static_cast<double>(kVocabSize)) +
                                                      positive_sum_roundoffs(tokens, 1),
                                          .stored = 2.01 + stored_sum_roundoffs(operands.config)})}};
  }
  const at::Tensor minus_one = at::ones_like(log_sum).neg();
  const at::Tensor difference = at::scatter_add(at::exp(logits.sub(log_sum)), -1, targets, minus_one);
  return {{"dlogits", difference.mul(exact(operands.gradients[0])).div(static_cast<double>(operands.config.tokens())),
           kernel_tolerance(precision, {.relative = 2 * largest + 8 + of_sum,
                                        .stored = largest + 3,
                                        .norm = largest + 8 + std::sqrt(static_cast<double>(kVocabSize)) / 3,
                                        .stored_norm = kRoundingRms * largest,
                                        .degrees = rows})}};
}

std::vector<at::Tensor> cross_entropy_forward(const KernelOperands& operands) {
  return {at::cross_entropy_loss(operands.inputs[0], operands.inputs[1])};
}

/// Runs log_softmax and nll_loss, forward and backward.
KernelImpl cross_entropy_aten() {
  return {.name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &cross_entropy_forward);
              },
          .forward = &cross_entropy_forward,
          .backward = &graph_gradients};
}

}  // namespace

KernelOp rmsnorm_kernel_op() {
  return {.name = "rmsnorm",
          .bytes = &rmsnorm_bytes,
          .fill = &rmsnorm_fill,
          .expect = &rmsnorm_expect,
          .impls = {"impl", {rmsnorm_aten(), rmsnorm_fused()}}};
}

KernelOp softmax_kernel_op() {
  return {.name = "softmax",
          .bytes = &softmax_bytes,
          .fill = &softmax_fill,
          .expect = &softmax_expect,
          .impls = {"impl", {softmax_aten()}}};
}

KernelOp cross_entropy_kernel_op() {
  return {.name = "cross_entropy",
          .bytes = &cross_entropy_bytes,
          .fill = &cross_entropy_fill,
          .expect = &cross_entropy_expect,
          .impls = {"impl", {cross_entropy_aten()}}};
}

}  // namespace tbench::model

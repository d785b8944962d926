// The Kernel family's operations that reduce rows: rmsnorm, softmax, cross_entropy.
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

#include "model/layers/layers.hpp"
#include "model/operations/kernels/implementation.hpp"

namespace tbench::model {
namespace {

// rmsnorm: y = x / sqrt(mean(x^2) + eps) * w over rows of d_model. Inputs: x [tokens, d_model], w [d_model].

KernelBytes rmsnorm_bytes(const KernelConfig& config) {
  const std::int64_t element = kernel_element_bytes(config.precision);
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

/// With n = x / rms and g = dy w: dx = (g - n mean(g n)) / rms, dw = sum over tokens of dy n.
std::vector<KernelResult> rmsnorm_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor x = exact(operands.inputs[0]);
  const at::Tensor w = exact(operands.inputs[1]);
  const at::Tensor inverse = at::rsqrt(x.square().mean(-1, /*keepdim=*/true).add(kRmsNormEpsilon));
  const at::Tensor n = x.mul(inverse);
  if (operands.config.pass == KernelPass::kForward) {
    return {{"y", n.mul(w), kernel_tolerance(precision, {.relative = 16, .stored = 2})}};
  }
  const at::Tensor dy = exact(operands.gradients[0]);
  const at::Tensor g = dy.mul(w);
  return {{"dx", g.sub(n.mul(g.mul(n).mean(-1, /*keepdim=*/true))).mul(inverse),
           kernel_tolerance(precision, {.relative = 16, .of_rms = 64, .stored = 4, .stored_of_rms = 4})},
          {"dw", dy.mul(n).sum(0),
           kernel_tolerance(precision, {.relative = 16, .of_rms = 256, .stored = 4, .stored_of_rms = 8})}};
}

std::vector<at::Tensor> rmsnorm_forward(const KernelOperands& operands) {
  return {at::rms_norm(operands.inputs[0], operands.inputs[1].sizes(), operands.inputs[1], kRmsNormEpsilon)};
}

/// ATen's fused kernels on a GPU; on a CPU operation by operation.
KernelImpl rmsnorm_aten() {
  return {.name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &rmsnorm_forward);
              },
          .forward = &rmsnorm_forward,
          .backward = &graph_gradients};
}

// softmax of the attention scores of one layer, over keys. Input: scores [batch, heads, context, context].

std::vector<std::int64_t> softmax_shape(const KernelConfig& config) {
  return {config.batch, config.size.num_heads, config.context, config.context};
}

KernelBytes softmax_bytes(const KernelConfig& config) {
  const std::int64_t scores =
      config.tokens() * config.size.num_heads * config.context * kernel_element_bytes(config.precision);
  if (config.pass == KernelPass::kForward) return {.read = scores, .written = scores};
  return {.read = 2 * scores, .written = scores};  // p, dp; dscores
}

void softmax_fill(KernelOperands& operands) {
  add_normal_input(operands, softmax_shape(operands.config));
  if (operands.config.pass == KernelPass::kBackward) add_normal_gradient(operands, softmax_shape(operands.config));
}

/// dscores = p (dp - sum(p dp)). ATen stores p, p dp and the result; an
/// element near zero is a difference of numbers of its row's size, with all of their roundings.
std::vector<KernelResult> softmax_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor x = exact(operands.inputs[0]);
  const at::Tensor power = at::exp(x.sub(x.amax(-1, /*keepdim=*/true)));
  const at::Tensor p = power.div(power.sum(-1, /*keepdim=*/true));
  if (operands.config.pass == KernelPass::kForward) {
    return {{"p", p, kernel_tolerance(precision, {.relative = 64, .stored = 1.01})}};
  }
  const at::Tensor dp = exact(operands.gradients[0]);
  return {{"dscores", p.mul(dp.sub(p.mul(dp).sum(-1, /*keepdim=*/true))),
           kernel_tolerance(precision, {.relative = 64, .of_rms = 32, .stored = 3.1, .stored_of_rms = 3})}};
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

// cross_entropy: mean of log(sum(exp(logits))) - logits[target]. Inputs: logits [tokens, vocab_size], targets [tokens]
// int64.

constexpr std::int64_t kTargetBytes = 8;

KernelBytes cross_entropy_bytes(const KernelConfig& config) {
  const std::int64_t element = kernel_element_bytes(config.precision);
  const std::int64_t logits = config.tokens() * kVocabSize * element;
  const std::int64_t targets = config.tokens() * kTargetBytes;
  if (config.pass == KernelPass::kForward) return {.read = logits + targets, .written = element};
  return {.read = logits + targets + element, .written = logits};  // logits, targets, dloss; dlogits
}

/// The loss's gradient is as large as the number of tokens, as a scaled loss's is: the logits' gradients would else be
/// too small for fp16.
void cross_entropy_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {config.tokens(), kVocabSize});
  add_token_input(operands);
  if (config.pass == KernelPass::kBackward) {
    add_normal_gradient(operands, {}).mul_(static_cast<double>(config.tokens()));
  }
}

/// dlogits = dloss / tokens (softmax(logits) - 1 at the target).
std::vector<KernelResult> cross_entropy_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor logits = exact(operands.inputs[0]);
  const at::Tensor targets = operands.inputs[1].unsqueeze(-1);
  const at::Tensor log_sum = at::logsumexp(logits, -1, /*keepdim=*/true);
  if (operands.config.pass == KernelPass::kForward) {
    return {{"loss", log_sum.sub(at::gather(logits, -1, targets)).mean(),
             kernel_tolerance(precision, {.relative = 64, .stored = 4})}};
  }
  const at::Tensor minus_one = at::ones_like(log_sum).neg();
  const at::Tensor difference = at::scatter_add(at::exp(logits.sub(log_sum)), -1, targets, minus_one);
  // Log-probabilities, of size up to 16, are stored before exp() is taken of them.
  return {{"dlogits", difference.mul(exact(operands.gradients[0])).div(static_cast<double>(operands.config.tokens())),
           kernel_tolerance(precision, {.relative = 64, .stored = 20})}};
}

std::vector<at::Tensor> cross_entropy_forward(const KernelOperands& operands) {
  return {at::cross_entropy_loss(operands.inputs[0], operands.inputs[1])};
}

/// log_softmax and nll_loss, forward and backward.
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
          .impls = {"impl", {rmsnorm_aten()}}};
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

// cross_entropy: mean of log(sum(exp(logits))) - logits[target]. Inputs: logits [tokens, vocab_size], targets [tokens]
// int64.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scatter_add.h>

#include "tbench/model/operation/kernel/implementation.hpp"

namespace tbench::model {
namespace {

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

}  // namespace

KernelOp cross_entropy_kernel_op() {
  return {.name = "cross_entropy",
          .bytes = &cross_entropy_bytes,
          .fill = &cross_entropy_fill,
          .expect = &cross_entropy_expect};
}

/// log_softmax and nll_loss, forward and backward.
KernelImpl cross_entropy_aten() {
  return {.op = "cross_entropy",
          .name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &cross_entropy_forward);
              },
          .forward = &cross_entropy_forward,
          .backward = &graph_gradients};
}

}  // namespace tbench::model

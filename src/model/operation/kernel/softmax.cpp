// softmax of the attention scores of one layer, over keys. Input: scores [batch, heads, context, context].
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/softmax.h>

#include "tbench/model/operation/kernel/implementation.hpp"

namespace tbench::model {
namespace {

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

}  // namespace

KernelOp softmax_kernel_op() {
  return {.name = "softmax", .bytes = &softmax_bytes, .fill = &softmax_fill, .expect = &softmax_expect};
}

KernelImpl softmax_aten() {
  return {.op = "softmax",
          .name = "aten",
          .prepare = &softmax_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::softmax(operands.inputs[0], -1)};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor& p = operands.saved[0];
            return {at::_softmax_backward_data(operands.gradients[0], p, -1, p.scalar_type())};
          }};
}

}  // namespace tbench::model

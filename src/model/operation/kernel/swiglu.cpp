// swiglu: h = silu(gate) * up between the two matrix products of the feed-forward. Inputs: gate, up, both
// [tokens, d_ff].
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include "tbench/model/operation/kernel/implementation.hpp"

namespace tbench::model {
namespace {

KernelBytes swiglu_bytes(const KernelConfig& config) {
  const std::int64_t matrix = config.tokens() * config.size.d_ff * kernel_element_bytes(config.precision);
  if (config.pass == KernelPass::kForward) return {.read = 2 * matrix, .written = matrix};
  return {.read = 3 * matrix, .written = 2 * matrix};  // gate, up, dh; dgate, dup
}

void swiglu_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  for (int i = 0; i < 2; ++i) add_normal_input(operands, {config.tokens(), config.size.d_ff});
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_ff});
}

/// silu(g) = g s(g) with s the logistic function; silu'(g) = s(g) (1 + g (1 - s(g))).
std::vector<KernelResult> swiglu_expect(const KernelOperands& operands) {
  const Precision precision = operands.config.precision;
  const at::Tensor gate = exact(operands.inputs[0]);
  const at::Tensor up = exact(operands.inputs[1]);
  const at::Tensor s = at::sigmoid(gate);
  // A stored silu that fp16 can no longer hold in full is multiplied by a normal value of up to 5.
  const KernelRoundings product{.relative = 16, .stored = 2.1, .least = 6};
  if (operands.config.pass == KernelPass::kForward) {
    return {{"h", gate.mul(s).mul(up), kernel_tolerance(precision, product)}};
  }
  const at::Tensor dh = exact(operands.gradients[0]);
  const at::Tensor slope = s.mul(gate.mul(s.neg().add(1)).add(1));
  return {{"dgate", dh.mul(up).mul(slope), kernel_tolerance(precision, {.relative = 16, .of_rms = 64, .stored = 2.1})},
          {"dup", dh.mul(gate).mul(s), kernel_tolerance(precision, product)}};
}

/// A forward pass for a backward leaves silu(gate), as autograd does.
void swiglu_prepare(KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kBackward) operands.saved = {at::silu(operands.inputs[0])};
}

}  // namespace

KernelOp swiglu_kernel_op() {
  return {.name = "swiglu", .bytes = &swiglu_bytes, .fill = &swiglu_fill, .expect = &swiglu_expect};
}

KernelImpl swiglu_aten() {
  return {.op = "swiglu",
          .name = "aten",
          .prepare = &swiglu_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::silu(operands.inputs[0]).mul(operands.inputs[1])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor& dh = operands.gradients[0];
            return {at::silu_backward(dh.mul(operands.inputs[1]), operands.inputs[0]), dh.mul(operands.saved[0])};
          }};
}

}  // namespace tbench::model

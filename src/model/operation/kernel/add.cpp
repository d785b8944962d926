// add: the residual stream and a sublayer's output. Inputs: two of [tokens, d_model].
#include "tbench/model/operation/kernel/implementation.hpp"

namespace tbench::model {
namespace {

KernelBytes add_bytes(const KernelConfig& config) {
  const std::int64_t matrix = config.tokens() * config.size.d_model * kernel_element_bytes(config.precision);
  return {.read = 2 * matrix, .written = matrix};
}

void add_fill(KernelOperands& operands) {
  for (int i = 0; i < 2; ++i) add_normal_input(operands, {operands.config.tokens(), operands.config.size.d_model});
}

/// One rounding, of the sum.
std::vector<KernelResult> add_expect(const KernelOperands& operands) {
  return {{"sum", exact(operands.inputs[0]).add(exact(operands.inputs[1])),
           kernel_tolerance(operands.config.precision, {.relative = 1, .stored = 1})}};
}

}  // namespace

KernelOp add_kernel_op() {
  return {.name = "add",
          .passes = {KernelPass::kForward},
          .pass_refusal = "the gradient of a sum is that of its terms: nothing is launched",
          .bytes = &add_bytes,
          .fill = &add_fill,
          .expect = &add_expect};
}

KernelImpl add_aten() {
  return {.op = "add", .name = "aten", .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.inputs[0].add(operands.inputs[1])};
          }};
}

}  // namespace tbench::model

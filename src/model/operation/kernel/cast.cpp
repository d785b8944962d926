// cast: a matrix of the feed-forward, [d_ff, d_model], from float32 to the precision's type, as autocast does it in
// every forward pass; backward: its gradient to float32.
#include "tbench/model/operation/kernel/implementation.hpp"
#include "tbench/model/precision_scope.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kParameterBytes = 4;

KernelBytes cast_bytes(const KernelConfig& config) {
  const std::int64_t elements = config.size.d_ff * config.size.d_model;
  const std::int64_t wide = elements * kParameterBytes;
  const std::int64_t narrow = elements * kernel_element_bytes(config.precision);
  if (config.pass == KernelPass::kForward) return {.read = wide, .written = narrow};
  return {.read = narrow, .written = wide};
}

void cast_fill(KernelOperands& operands) {
  const ModelSize& size = operands.config.size;
  if (operands.config.pass == KernelPass::kForward) {
    add_normal_input(operands, {size.d_ff, size.d_model}, at::kFloat);
  } else {
    add_normal_gradient(operands, {size.d_ff, size.d_model});
  }
}

std::vector<KernelResult> cast_expect(const KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kBackward) return {{"dweight", exact(operands.gradients[0]), {}}};  // exact
  return {{"weight", exact(operands.inputs[0]), kernel_tolerance(operands.config.precision, {.stored = 1})}};
}

}  // namespace

KernelOp cast_kernel_op() {
  return {.name = "cast",
          .precisions = {Precision::kBf16, Precision::kFp16},
          .precision_refusal = "parameters are float32 already: give bf16 or fp16",
          .counts_tokens = false,
          .bytes = &cast_bytes,
          .fill = &cast_fill,
          .expect = &cast_expect};
}

KernelImpl cast_aten() {
  return {.op = "cast",
          .name = "aten",
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.inputs[0].to(compute_dtype(operands.config.precision, at::kFloat))};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.gradients[0].to(at::kFloat)};
          }};
}

}  // namespace tbench::model

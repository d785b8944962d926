// rmsnorm: y = x / sqrt(mean(x^2) + eps) * w over rows of d_model. Inputs: x [tokens, d_model], w [d_model].
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/rsqrt.h>

#include "tbench/model/operation/kernel/implementation.hpp"
#include "tbench/model/rms_norm.hpp"

namespace tbench::model {
namespace {

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

}  // namespace

KernelOp rmsnorm_kernel_op() {
  return {.name = "rmsnorm", .bytes = &rmsnorm_bytes, .fill = &rmsnorm_fill, .expect = &rmsnorm_expect};
}

/// ATen's fused kernels on a GPU; on a CPU operation by operation.
KernelImpl rmsnorm_aten() {
  return {.op = "rmsnorm",
          .name = "aten",
          .prepare =
              [](KernelOperands& operands) {
                if (operands.config.pass == KernelPass::kBackward) record_graph(operands, &rmsnorm_forward);
              },
          .forward = &rmsnorm_forward,
          .backward = &graph_gradients};
}

}  // namespace tbench::model

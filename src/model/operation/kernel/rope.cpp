// rope: each pair (x[2i], x[2i+1]) of queries and keys turns by its position's angle. Input: q and k of one layer,
// [batch, context, 2, heads, head_dim]; the table of cosines and sines is float32 in every precision.
#include <ATen/ops/stack.h>

#include "tbench/model/execution_scope.hpp"
#include "tbench/model/operation/kernel/implementation.hpp"
#include "tbench/model/rope.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kTableElementBytes = 4;

std::vector<std::int64_t> rope_shape(const KernelConfig& config) {
  return {config.batch, config.context, 2, config.size.num_heads, config.size.head_dim()};
}

/// The backward turns the gradient the other way: the same bytes.
KernelBytes rope_bytes(const KernelConfig& config) {
  const std::int64_t vectors = 2 * config.tokens() * config.size.d_model * kernel_element_bytes(config.precision);
  const std::int64_t table = config.context * config.size.head_dim() * kTableElementBytes;
  return {.read = vectors + table, .written = vectors};
}

void rope_fill(KernelOperands& operands) {
  add_normal_input(operands, rope_shape(operands.config));
  if (operands.config.pass == KernelPass::kBackward) add_normal_gradient(operands, rope_shape(operands.config));
}

std::vector<KernelResult> rope_expect(const KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const bool is_forward = config.pass == KernelPass::kForward;
  const at::Tensor pairs = exact(is_forward ? operands.inputs[0] : operands.gradients[0]).unflatten(-1, {-1, 2});
  const RopeTable table = make_rope_table(config.context, config.size.head_dim(), pairs.options());
  const std::vector<std::int64_t> positions{config.context, 1, 1, config.size.head_dim() / 2};
  const at::Tensor cos = table.cos.view(positions);
  const at::Tensor sin = is_forward ? table.sin.view(positions) : table.sin.view(positions).neg();
  const at::Tensor a = pairs.select(-1, 0);
  const at::Tensor b = pairs.select(-1, 1);
  return {{is_forward ? "turned" : "dx",
           at::stack({a.mul(cos).sub(b.mul(sin)), a.mul(sin).add(b.mul(cos))}, -1).flatten(-2),
           kernel_tolerance(config.precision, {.of_rms = 32, .stored = 1.01})}};
}

/// Turning back is turning by the conjugate.
void rope_prepare(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const at::Tensor rotation =
      make_rope_rotation(config.context, config.size.head_dim(),
                         at::TensorOptions{}.device(torch_device(config.device)).dtype(at::kFloat));
  operands.saved = {config.pass == KernelPass::kForward ? rotation : rotation.conj().resolve_conj()};
}

}  // namespace

KernelOp rope_kernel_op() { return {.name = "rope", .bytes = &rope_bytes, .fill = &rope_fill, .expect = &rope_expect}; }

/// One complex product, with a cast before and after it for 16-bit storage: stock LibTorch has no operator of its own.
KernelImpl rope_aten() {
  return {.op = "rope",
          .name = "aten",
          .prepare = &rope_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {fused_rope(operands.inputs[0], operands.saved[0])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {fused_rope(operands.gradients[0], operands.saved[0])};
          }};
}

}  // namespace tbench::model

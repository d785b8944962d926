// embedding: rows of the table by token id. Inputs: weight [vocab_size, d_model], ids [tokens] int64, uniform.
// rope: rotates each pair (x[2i], x[2i+1]) of queries and keys by the angle of its position. Input: q and k of one
// layer, [batch, context, 2, heads, head_dim]; the table of cosines and sines is float32 in every precision.
// rope_qkv: rope that also splits one product [batch, context, 3, heads, head_dim] into queries, keys and values [3,
// batch, heads, context, head_dim], as attention reads them. Its backward turns their gradients into the gradient of
// the product.
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

#include "model/layers/layers.hpp"
#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kTokenIdBytes = 8;

/// Returns the expected number of distinct rows that uniform ids select: V (1 - (1 - 1/V)^tokens).
std::int64_t distinct_rows(const KernelConfig& config) {
  const auto vocabulary = static_cast<double>(kVocabSize);
  return std::llround(vocabulary * -std::expm1(static_cast<double>(config.tokens()) * std::log1p(-1 / vocabulary)));
}

/// Returns the traffic; backward writes the gradient of the whole table, including zeros.
KernelBytes embedding_bytes(const KernelConfig& config) {
  const std::int64_t row = config.size.d_model * storage_bytes(config.precision);
  const std::int64_t ids = config.tokens() * kTokenIdBytes;
  if (config.pass == KernelPass::kForward) {
    return {.read = ids + distinct_rows(config) * row, .written = config.tokens() * row};
  }
  return {.read = ids + config.tokens() * row, .written = kVocabSize * row};
}

void embedding_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {kVocabSize, config.size.d_model});
  add_token_input(operands);
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_model});
}

std::vector<KernelResult> embedding_expect(const KernelOperands& operands) {
  const at::Tensor& ids = operands.inputs[1];
  if (operands.config.pass == KernelPass::kForward) {
    return {{"rows", at::index_select(exact(operands.inputs[0]), 0, ids), {}}};  // exact
  }
  const at::Tensor dy = exact(operands.gradients[0]);
  const at::Tensor zeros = at::zeros({kVocabSize, operands.config.size.d_model}, dy.options());
  const at::Tensor dweight = zeros.index_add(0, ids, dy);
  // The gradient of a row with c tokens is the result of c - 1 additions, in the storage type at worst. Each addition
  // rounds a partial sum, which is at most the sum of the terms' magnitudes. With one token, the gradient is a copy.
  const at::Tensor sizes = zeros.index_add(0, ids, dy.abs()).amax(-1, /*keepdim=*/true);
  const at::Tensor additions =
      at::zeros({kVocabSize, 1}, dy.options()).index_add(0, ids, at::ones({ids.numel(), 1}, dy.options())).sub(1.0);
  const double unit = unit_roundoff(operands.config.precision);
  return {{"dweight", dweight, Tolerance{}, additions.clamp_min(0.0).mul(sizes).mul(unit)}};
}

KernelImpl embedding_aten() {
  return {.name = "aten",
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::embedding(operands.inputs[0], operands.inputs[1])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            constexpr std::int64_t kNoPadding = -1;
            return {at::embedding_dense_backward(operands.gradients[0], operands.inputs[1], kVocabSize, kNoPadding,
                                                 /*scale_grad_by_freq=*/false)};
          }};
}

constexpr std::int64_t kTableElementBytes = 4;

std::vector<std::int64_t> rope_shape(const KernelConfig& config) {
  return {config.batch, config.context, 2, config.size.num_heads, config.size.head_dim()};
}

/// Returns the traffic of either pass: the backward rotates the gradient in the opposite direction, with the same
/// bytes.
KernelBytes rope_bytes(const KernelConfig& config) {
  const std::int64_t vectors = 2 * config.tokens() * config.size.d_model * storage_bytes(config.precision);
  const std::int64_t table = config.context * config.size.head_dim() * kTableElementBytes;
  return {.read = vectors + table, .written = vectors};
}

void rope_fill(KernelOperands& operands) {
  add_normal_input(operands, rope_shape(operands.config));
  if (operands.config.pass == KernelPass::kBackward) add_normal_gradient(operands, rope_shape(operands.config));
}

/// Returns queries and keys [batch, context, 2, heads, head_dim], rotated in the direction of the pass, in float64.
at::Tensor turned_exactly(const KernelConfig& config, const at::Tensor& vectors) {
  const at::Tensor pairs = vectors.unflatten(-1, {-1, 2});
  const RopeTable table = make_rope_table(config.context, config.size.head_dim(), pairs.options());
  const std::vector<std::int64_t> positions{config.context, 1, 1, config.size.head_dim() / 2};
  const at::Tensor cos = table.cos.view(positions);
  const at::Tensor sin = table.sin.view(positions).mul(config.pass == KernelPass::kForward ? 1.0 : -1.0);
  const at::Tensor a = pairs.select(-1, 0);
  const at::Tensor b = pairs.select(-1, 1);
  return at::stack({a.mul(cos).sub(b.mul(sin)), a.mul(sin).add(b.mul(cos))}, -1).flatten(-2);
}

/// Returns the tolerance for three roundings: of the table's value, a product and the difference. The error is 3 u (|a|
/// + |b|) for a pair of length z.
Tolerance rope_tolerance(const KernelConfig& config, std::int64_t count) {
  return kernel_tolerance(config.precision, {.of_rms = 3 * std::numbers::sqrt2 * largest_deviation(count),
                                             .stored = 1.01,
                                             .norm = std::sqrt(3.0) * kRoundingRms,
                                             .stored_norm = kRoundingRms,
                                             .degrees = static_cast<double>(count)});
}

std::vector<KernelResult> rope_expect(const KernelOperands& operands) {
  const bool is_forward = operands.config.pass == KernelPass::kForward;
  const at::Tensor vectors = exact(is_forward ? operands.inputs[0] : operands.gradients[0]);
  return {{is_forward ? "turned" : "dx", turned_exactly(operands.config, vectors),
           rope_tolerance(operands.config, vectors.numel())}};
}

/// Saves the rotation; backward rotates by its conjugate.
void rope_prepare(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const at::Tensor rotation =
      make_rope_rotation(config.context, config.size.head_dim(),
                         at::TensorOptions{}.device(torch_device(config.device)).dtype(at::kFloat));
  operands.saved = {config.pass == KernelPass::kForward ? rotation : rotation.conj().resolve_conj()};
}

/// Computes one complex product, with a cast before and after it for 16-bit storage: stock LibTorch has no operator for
/// RoPE.
KernelImpl rope_aten() {
  return {.name = "aten",
          .prepare = &rope_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {fused_rope(operands.inputs[0], operands.saved[0])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {fused_rope(operands.gradients[0], operands.saved[0])};
          }};
}

constexpr std::int64_t kTurned = 2, kParts = 3;  // queries and keys; values too

std::vector<std::int64_t> qkv_shape(const KernelConfig& config) {
  return {config.batch, config.context, kParts, config.size.num_heads, config.size.head_dim()};
}

/// Permute a product to heads, and heads to a product: each permutation is the inverse of the other.
at::Tensor as_heads(const at::Tensor& product) { return product.permute({2, 0, 3, 1, 4}); }
at::Tensor as_product(const at::Tensor& heads) { return heads.permute({1, 3, 0, 2, 4}); }

KernelBytes rope_qkv_bytes(const KernelConfig& config) {
  const std::int64_t vectors = kParts * config.tokens() * config.size.d_model * storage_bytes(config.precision);
  const std::int64_t table = config.context * config.size.head_dim() * kTableElementBytes;
  return {.read = vectors + table, .written = vectors};
}

void rope_qkv_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, qkv_shape(config));
  if (config.pass == KernelPass::kForward) return;
  add_normal_gradient(operands, {kParts, config.batch, config.size.num_heads, config.context, config.size.head_dim()});
}

/// Returns the expected Q, K and V or, for a backward pass, the gradient of the product. The part of V is a copy and
/// should be exact, but it shares a tensor with Q and K, and therefore their tolerance.
std::vector<KernelResult> rope_qkv_expect(const KernelOperands& operands) {
  const bool is_forward = operands.config.pass == KernelPass::kForward;
  const at::Tensor product = is_forward ? exact(operands.inputs[0]) : as_product(exact(operands.gradients[0]));
  const at::Tensor turned = at::cat(
      {turned_exactly(operands.config, product.narrow(2, 0, kTurned)), product.narrow(2, kTurned, kParts - kTurned)},
      2);
  return {{is_forward ? "heads" : "dproduct", is_forward ? as_heads(turned) : turned,
           rope_tolerance(operands.config, product.numel())}};
}

/// Copies the rotated queries and keys, and the values, into `result`.
at::Tensor rope_qkv_into(at::Tensor result, const at::Tensor& product, const at::Tensor& rotation) {
  result.narrow(2, 0, kTurned).copy_(fused_rope(product.narrow(2, 0, kTurned), rotation));
  result.narrow(2, kTurned, kParts - kTurned).copy_(product.narrow(2, kTurned, kParts - kTurned));
  return result;
}

KernelImpl rope_qkv_aten() {
  return {.name = "aten",
          .prepare = &rope_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor& product = operands.inputs[0];
            const at::Tensor heads = at::empty(as_heads(product).sizes(), product.options());
            rope_qkv_into(as_product(heads), product, operands.saved[0]);
            return {heads};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor product = as_product(operands.gradients[0]);
            return {rope_qkv_into(at::empty(product.sizes(), product.options()), product, operands.saved[0])};
          }};
}

}  // namespace

KernelOp embedding_kernel_op() {
  return {.name = "embedding",
          .bytes = &embedding_bytes,
          .fill = &embedding_fill,
          .expect = &embedding_expect,
          .impls = {"impl", {embedding_aten(), embedding_fused()}}};
}

KernelOp rope_kernel_op() {
  return {.name = "rope",
          .bytes = &rope_bytes,
          .fill = &rope_fill,
          .expect = &rope_expect,
          .impls = {"impl", {rope_aten(), rope_fused()}}};
}

KernelOp rope_qkv_kernel_op() {
  return {.name = "rope_qkv",
          .bytes = &rope_qkv_bytes,
          .fill = &rope_qkv_fill,
          .expect = &rope_qkv_expect,
          .impls = {"impl", {rope_qkv_aten(), rope_qkv_fused()}}};
}

}  // namespace tbench::model

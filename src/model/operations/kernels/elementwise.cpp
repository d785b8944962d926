// The Kernel family's operations on elements one by one: swiglu, swiglu_packed, add and cast.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include <numbers>

#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

// swiglu: h = silu(gate) * up between the two matrix products of the feed-forward. Inputs: gate and up, both [tokens,
// d_ff].

KernelBytes swiglu_bytes(const KernelConfig& config) {
  const std::int64_t matrix = config.tokens() * config.size.d_ff * storage_bytes(config.precision);
  if (config.pass == KernelPass::kForward) return {.read = 2 * matrix, .written = matrix};
  return {.read = 3 * matrix, .written = 2 * matrix};  // gate, up, dh; dgate, dup
}

void swiglu_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  for (int i = 0; i < 2; ++i) add_normal_input(operands, {config.tokens(), config.size.d_ff});
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_ff});
}

/// silu(g) = g s(g) with s the logistic function; silu'(g) = s(g) (1 + g (1 - s(g))).
struct SwigluResults {
  KernelResult h, dgate, dup;  // the gradients, only in a backward pass
};

SwigluResults swiglu_results(const KernelOperands& operands, const at::Tensor& gate, const at::Tensor& up) {
  const Precision precision = operands.config.precision;
  const at::Tensor s = at::sigmoid(gate);
  const std::int64_t count = gate.numel();
  const auto degrees = static_cast<double>(count);
  // Roundings: exp to four round-offs (fast versions are off by two units in the last place), a sum, a division and two
  // products; silu and the result are stored. A stored silu that is subnormal in fp16 is multiplied by a normal value.
  const KernelRoundings product{.relative = 8,
                                .stored = 2.1,
                                .min_subnormals = largest_deviation(count) + 1,
                                .norm = 8 * kRoundingRms,
                                .stored_norm = std::numbers::sqrt2 * kRoundingRms,
                                .degrees = degrees};
  const KernelResult h{"h", gate.mul(s).mul(up), kernel_tolerance(precision, product)};
  if (operands.config.pass == KernelPass::kForward) return {.h = h, .dgate = {}, .dup = {}};
  const at::Tensor dh = exact(operands.gradients[0]);
  const at::Tensor slope = s.mul(gate.mul(s.neg().add(1)).add(1));
  // The slope is s + s (g - s g), which may cancel; its rms is 0.6, like the rms of the result. It is off by six of
  // these round-offs of 1, multiplied by dh up.
  KernelRoundings of_slope = product;
  of_slope.of_rms = 6 / 0.6 * largest_product(count);
  of_slope.norm += 6 / 0.6;
  of_slope.min_subnormals = 2;
  return {.h = h,
          .dgate = {"dgate", dh.mul(up).mul(slope), kernel_tolerance(precision, of_slope)},
          .dup = {"dup", dh.mul(gate).mul(s), kernel_tolerance(precision, product)}};
}

std::vector<KernelResult> swiglu_expect(const KernelOperands& operands) {
  const SwigluResults results = swiglu_results(operands, exact(operands.inputs[0]), exact(operands.inputs[1]));
  if (operands.config.pass == KernelPass::kForward) return {results.h};
  return {results.dgate, results.dup};
}

/// For a backward pass, saves silu(gate), as autograd does.
void swiglu_prepare(KernelOperands& operands) {
  if (operands.config.pass == KernelPass::kBackward) operands.saved = {at::silu(operands.inputs[0])};
}

KernelImpl swiglu_aten() {
  return {.name = "aten",
          .prepare = &swiglu_prepare,
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::silu(operands.inputs[0]).mul(operands.inputs[1])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const at::Tensor& dh = operands.gradients[0];
            return {at::silu_backward(dh.mul(operands.inputs[1]), operands.inputs[0]), dh.mul(operands.saved[0])};
          }};
}

// swiglu_packed: swiglu on one product that holds both inputs. Input: [tokens, 2 d_ff], with a token's gate before its
// up. The backward pass computes h again, for the gradient of the next product's weight, so that h need not be kept.

KernelBytes swiglu_packed_bytes(const KernelConfig& config) {
  KernelBytes bytes = swiglu_bytes(config);
  if (config.pass == KernelPass::kBackward) bytes.written += bytes.written / 2;  // dgate, dup, h
  return bytes;
}

void swiglu_packed_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {config.tokens(), 2 * config.size.d_ff});
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_ff});
}

std::vector<KernelResult> swiglu_packed_expect(const KernelOperands& operands) {
  const std::vector<at::Tensor> halves = exact(operands.inputs[0]).chunk(2, -1);
  const SwigluResults results = swiglu_results(operands, halves[0], halves[1]);
  if (operands.config.pass == KernelPass::kForward) return {results.h};
  return {results.dgate, results.dup, results.h};
}

/// Writes the gradients into the halves of one tensor, which the next product reads.
std::vector<at::Tensor> swiglu_packed_backward(const KernelOperands& operands) {
  const at::Tensor& dh = operands.gradients[0];
  const std::vector<at::Tensor> halves = operands.inputs[0].chunk(2, -1);
  const at::Tensor silu = at::silu(halves[0]);
  std::vector<at::Tensor> gradients = at::empty_like(operands.inputs[0]).chunk(2, -1);
  at::silu_backward_out(gradients[0], dh.mul(halves[1]), halves[0]);
  at::mul_out(gradients[1], dh, silu);
  return {gradients[0], gradients[1], silu.mul(halves[1])};
}

KernelImpl swiglu_packed_aten() {
  return {.name = "aten",
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            const std::vector<at::Tensor> halves = operands.inputs[0].chunk(2, -1);
            return {at::silu(halves[0]).mul(halves[1])};
          },
          .backward = &swiglu_packed_backward};
}

// add: adds a sublayer's output to the residual stream. Inputs: two tensors [tokens, d_model].

KernelBytes add_bytes(const KernelConfig& config) {
  const std::int64_t matrix = config.tokens() * config.size.d_model * storage_bytes(config.precision);
  return {.read = 2 * matrix, .written = matrix};
}

void add_fill(KernelOperands& operands) {
  for (int i = 0; i < 2; ++i) add_normal_input(operands, {operands.config.tokens(), operands.config.size.d_model});
}

/// Returns the roundings of an operation that rounds every element once, uniformly within a round-off of it.
KernelRoundings one_rounding(std::int64_t count) {
  return {.relative = 1, .norm = kRoundingRms, .stored_norm = kRoundingRms, .degrees = static_cast<double>(count)};
}

std::vector<KernelResult> add_expect(const KernelOperands& operands) {
  const at::Tensor sum = exact(operands.inputs[0]).add(exact(operands.inputs[1]));
  return {{"sum", sum, kernel_tolerance(operands.config.precision, one_rounding(sum.numel()))}};
}

KernelImpl add_aten() {
  return {.name = "aten", .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.inputs[0].add(operands.inputs[1])};
          }};
}

// cast: converts a matrix of the feed-forward, [d_ff, d_model], from float32 to the precision's type, as autocast does
// in every forward pass. The backward pass converts its gradient to float32.

constexpr std::int64_t kParameterBytes = 4;

KernelBytes cast_bytes(const KernelConfig& config) {
  const std::int64_t elements = config.size.d_ff * config.size.d_model;
  const std::int64_t wide = elements * kParameterBytes;
  const std::int64_t narrow = elements * storage_bytes(config.precision);
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
  KernelRoundings rounding = one_rounding(operands.inputs[0].numel());
  rounding.relative = rounding.norm = 0;
  return {{"weight", exact(operands.inputs[0]), kernel_tolerance(operands.config.precision, rounding)}};
}

KernelImpl cast_aten() {
  return {.name = "aten",
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.inputs[0].to(compute_dtype(operands.config.precision, at::kFloat))};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {operands.gradients[0].to(at::kFloat)};
          }};
}

}  // namespace

KernelOp swiglu_kernel_op() {
  return {.name = "swiglu",
          .bytes = &swiglu_bytes,
          .fill = &swiglu_fill,
          .expect = &swiglu_expect,
          .impls = {"impl", {swiglu_aten(), swiglu_fused()}}};
}

KernelOp swiglu_packed_kernel_op() {
  return {.name = "swiglu_packed",
          .bytes = &swiglu_packed_bytes,
          .fill = &swiglu_packed_fill,
          .expect = &swiglu_packed_expect,
          .impls = {"impl", {swiglu_packed_aten(), swiglu_packed_fused()}}};
}

KernelOp add_kernel_op() {
  return {.name = "add",
          .passes = {KernelPass::kForward},
          .pass_refusal = "each term of a sum has the sum's own gradient: nothing is launched",
          .bytes = &add_bytes,
          .fill = &add_fill,
          .expect = &add_expect,
          .impls = {"impl", {add_aten()}}};
}

KernelOp cast_kernel_op() {
  return {.name = "cast",
          .precisions = {Precision::kBf16, Precision::kFp16},
          .precision_refusal = "parameters are float32 already: use bf16 or fp16",
          .counts_tokens = false,
          .bytes = &cast_bytes,
          .fill = &cast_fill,
          .expect = &cast_expect,
          .impls = {"impl", {cast_aten()}}};
}

}  // namespace tbench::model

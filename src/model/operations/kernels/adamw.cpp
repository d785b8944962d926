// adamw: one step over the parameters of one block, in place. Inputs: parameters, gradients, first and second moments,
// each a list of the block's tensors in float32.
// adamw_cast: the same step, which also writes a copy of the parameters in the precision's type. Without it, autocast's
// next forward pass would have to make that copy.
#include "model/training/optimizer.hpp"

#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sqrt.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {
namespace {

constexpr std::size_t kTensorsOfABlock = 9;
constexpr double kStepsSoFar = 10;  // early enough that both bias corrections matter
/// The smallest second moment. With a moment near zero, a step would be as large as its parameter.
constexpr double kMinSecondMoment = 0.1;
/// The allowed round-offs of a second moment. float32's 1 - beta2 is off by up to half an ulp of 1 over 0.001, and a
/// gradient far above its second moment makes the result proportional to it.
constexpr double kSecondMomentRoundOffs = 1024;

/// Returns the shapes of a block's parameters: two norms, four projections, and three matrices of the feed-forward
/// layer.
std::array<std::vector<std::int64_t>, kTensorsOfABlock> block_shapes(const ModelSize& size) {
  const std::int64_t d = size.d_model;
  const std::int64_t f = size.d_ff;
  return {{{d}, {d}, {d, d}, {d, d}, {d, d}, {d, d}, {f, d}, {f, d}, {d, f}}};
}

enum AdamWList : std::size_t { kParameters, kGradients, kFirstMoments, kSecondMoments, kLists };

/// Returns the tensors of one list, as a view of the operands.
at::TensorList list_of(const KernelOperands& operands, AdamWList list) {
  return at::TensorList{operands.inputs}.slice(list * kTensorsOfABlock, kTensorsOfABlock);
}

std::int64_t block_parameters(const KernelConfig& config) {
  const std::int64_t d = config.size.d_model;
  return 4 * d * d + 3 * d * config.size.d_ff + 2 * d;
}

KernelBytes adamw_bytes(const KernelConfig& config) {
  const std::int64_t parameters = block_parameters(config) * storage_bytes(Precision::kFp32);
  return {.read = 4 * parameters, .written = 3 * parameters};  // p, g, m, v; p, m, v
}

KernelBytes adamw_cast_bytes(const KernelConfig& config) {
  KernelBytes bytes = adamw_bytes(config);
  bytes.written += block_parameters(config) * storage_bytes(config.precision);
  return bytes;
}

void adamw_fill(KernelOperands& operands) {
  const auto shapes = block_shapes(operands.config.size);
  for (std::size_t list = 0; list < kLists; ++list) {
    for (const auto& shape : shapes) {
      at::Tensor& tensor = add_normal_input(operands, shape, at::kFloat);
      if (list == kSecondMoments) tensor.square_().add_(kMinSecondMoment);
    }
  }
}

/// Returns the expected tensors: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p = p (1 - lr decay) - lr (m / (1 -
/// b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
std::vector<KernelResult> adamw_expect(const KernelOperands& operands) {
  const AdamWOptions options;
  constexpr Precision precision = Precision::kFp32;
  const double correction1 = 1 - std::pow(options.beta1, kStepsSoFar);
  const double correction2 = 1 - std::pow(options.beta2, kStepsSoFar);
  std::array<std::vector<KernelResult>, 3> results;
  for (std::size_t i = 0; i < kTensorsOfABlock; ++i) {
    const at::Tensor g = exact(list_of(operands, kGradients)[i]);
    const at::Tensor m = exact(list_of(operands, kFirstMoments)[i]).mul(options.beta1).add(g.mul(1 - options.beta1));
    const at::Tensor v =
        exact(list_of(operands, kSecondMoments)[i]).mul(options.beta2).add(g.square().mul(1 - options.beta2));
    const at::Tensor update = m.div(correction1).div(at::sqrt(v.div(correction2)).add(options.epsilon));
    const at::Tensor p = exact(list_of(operands, kParameters)[i])
                             .mul(1 - options.learning_rate * options.weight_decay)
                             .sub(update.mul(options.learning_rate));
    // A parameter is rounded three times. The subtracted step is rounded a dozen times, and is 1e-3 of at most z /
    // sqrt(0.1). A moment is rounded twice; before that, 0.1 g and 0.1 m are rounded three times each. Also, float32's
    // 1 - beta1 is off by 4 roundings of 0.1, which scales g - m.
    const double z = largest_deviation(p.numel());
    const auto degrees = static_cast<double>(p.numel());
    results[0].push_back(
        {fmt::format("parameter {}", i), p,
         kernel_tolerance(precision,
                          {.relative = 3, .of_rms = 0.05 * z, .norm = 3 * kRoundingRms, .degrees = degrees})});
    results[1].push_back(
        {fmt::format("first moment {}", i), m,
         kernel_tolerance(precision,
                          {.relative = 2, .of_rms = 1.3 * z, .norm = 3 * kRoundingRms + 0.65, .degrees = degrees})});
    results[2].push_back(
        {fmt::format("second moment {}", i), v, kernel_tolerance(precision, {.relative = kSecondMomentRoundOffs})});
  }
  for (const std::size_t list : {1, 2}) {
    results[0].insert(results[0].end(), results[list].begin(), results[list].end());
  }
  return std::move(results[0]);
}

/// Returns the results of adamw_expect() and the parameters' copies, which are rounded once more.
std::vector<KernelResult> adamw_cast_expect(const KernelOperands& operands) {
  std::vector<KernelResult> results = adamw_expect(operands);
  for (std::size_t i = 0; i < kTensorsOfABlock; ++i) {
    const at::Tensor& p = results[i].expected;
    const KernelRoundings roundings{.relative = 3, .of_rms = 0.05 * largest_deviation(p.numel()), .stored = 1.01};
    results.push_back({fmt::format("copy {}", i), p, kernel_tolerance(operands.config.precision, roundings)});
  }
  return results;
}

void adamw_prepare(KernelOperands& operands) {
  operands.saved.assign(kTensorsOfABlock, at::full({}, kStepsSoFar, operands.inputs[0].options()));
}

/// Saves the copies after the step counts; they are NaN until a step has written them.
void adamw_cast_prepare(KernelOperands& operands) {
  adamw_prepare(operands);
  for (const at::Tensor& parameter : list_of(operands, kParameters)) {
    operands.saved.push_back(at::full_like(parameter, std::numeric_limits<double>::quiet_NaN(),
                                           compute_dtype(operands.config.precision, at::kFloat)));
  }
}

at::TensorList steps_of(const KernelOperands& operands) {
  return at::TensorList{operands.saved}.slice(0, kTensorsOfABlock);
}
at::TensorList copies_of(const KernelOperands& operands) {
  return at::TensorList{operands.saved}.slice(kTensorsOfABlock);
}

/// Returns the tensors that a step has changed or written, in the order of adamw_cast_expect().
std::vector<at::Tensor> stepped_tensors(const KernelOperands& operands) {
  std::vector<at::Tensor> results = list_of(operands, kParameters).vec();
  for (const at::TensorList tensors :
       {list_of(operands, kFirstMoments), list_of(operands, kSecondMoments), copies_of(operands)}) {
    results.insert(results.end(), tensors.begin(), tensors.end());
  }
  return results;
}

std::vector<at::Tensor> adamw_step(const KernelOperands& operands) {
  const AdamWOptions options;
  at::_fused_adamw_(list_of(operands, kParameters), list_of(operands, kGradients), list_of(operands, kFirstMoments),
                    list_of(operands, kSecondMoments), /*max_exp_avg_sqs=*/{}, steps_of(operands),
                    options.learning_rate, options.beta1, options.beta2, options.weight_decay, options.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
  return stepped_tensors(operands);
}

std::vector<at::Tensor> adamw_step_and_cast(const KernelOperands& operands) {
  std::vector<at::Tensor> results = adamw_step(operands);
  at::_foreach_copy_(copies_of(operands), list_of(operands, kParameters));
  return results;
}

std::vector<at::Tensor> own_adamw_step(const KernelOperands& operands) {
  own_adamw({.parameters = list_of(operands, kParameters),
             .gradients = list_of(operands, kGradients),
             .first_moments = list_of(operands, kFirstMoments),
             .second_moments = list_of(operands, kSecondMoments),
             .copies = copies_of(operands)},
            operands.saved[0], operands.config.precision);
  return stepped_tensors(operands);
}

/// Runs one fused kernel over all tensors; the step count stays constant.
KernelImpl adamw_aten() { return {.name = "aten", .prepare = &adamw_prepare, .forward = &adamw_step}; }

/// Runs the kernel of adamw_aten(), and one more kernel for all casts.
KernelImpl adamw_cast_aten() {
  return {.name = "aten", .prepare = &adamw_cast_prepare, .forward = &adamw_step_and_cast};
}

/// Runs the step and the casts in one kernel, with or without copies.
KernelImpl adamw_fused(void (*prepare)(KernelOperands& operands)) {
  return {.name = "fused", .unsupported_reason = &fused_kernel_refusal, .prepare = prepare, .forward = &own_adamw_step};
}

constexpr const char* kNoBackwardOfAStep = "an optimizer's step has no backward";

}  // namespace

KernelOp adamw_kernel_op() {
  return {.name = "adamw",
          .passes = {KernelPass::kForward},
          .pass_refusal = kNoBackwardOfAStep,
          .precisions = {Precision::kFp32},
          .precision_refusal = "parameters, gradients and moments are float32 at every precision of a model",
          .counts_tokens = false,
          .is_in_place = true,
          .bytes = &adamw_bytes,
          .fill = &adamw_fill,
          .expect = &adamw_expect,
          .impls = {"impl", {adamw_aten(), adamw_fused(&adamw_prepare)}}};
}

KernelOp adamw_cast_kernel_op() {
  return {.name = "adamw_cast",
          .passes = {KernelPass::kForward},
          .pass_refusal = kNoBackwardOfAStep,
          .precisions = {Precision::kBf16, Precision::kFp16},
          .precision_refusal = "the copy of float32 parameters is a 16-bit one: use bf16 or fp16, or op:adamw",
          .counts_tokens = false,
          .is_in_place = true,
          .bytes = &adamw_cast_bytes,
          .fill = &adamw_fill,
          .expect = &adamw_cast_expect,
          .impls = {"impl", {adamw_cast_aten(), adamw_fused(&adamw_cast_prepare)}}};
}

}  // namespace tbench::model

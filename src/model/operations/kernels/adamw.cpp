// adamw: one step over the parameters of one block, in place. Inputs: parameters, gradients, first and second moments,
// each a list of the block's tensors, float32.
#include "model/training/optimizer.hpp"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sqrt.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "model/operations/kernels/implementation.hpp"
#include "model/operations/kernels/verify.hpp"

namespace tbench::model {
namespace {

constexpr std::size_t kTensorsOfABlock = 9;
constexpr double kStepsSoFar = 10;  // both bias corrections matter
/// Second moments are kept away from zero: beside one that is, a step is as large as its parameter.
constexpr double kMinSecondMoment = 0.1;
/// float32's 1 - beta2 is off by up to half an ulp of 1 over 0.001, which is all that a gradient far above its second
/// moment leaves.
constexpr double kSecondMomentRoundOffs = 1024;

/// Two norms, four projections, three matrices of the feed-forward.
std::array<std::vector<std::int64_t>, kTensorsOfABlock> block_shapes(const ModelSize& size) {
  const std::int64_t d = size.d_model;
  const std::int64_t f = size.d_ff;
  return {{{d}, {d}, {d, d}, {d, d}, {d, d}, {d, d}, {f, d}, {f, d}, {d, f}}};
}

enum AdamWList : std::size_t { kParameters, kGradients, kFirstMoments, kSecondMoments, kLists };

/// The tensors of one list: a view of the operands.
at::TensorList list_of(const KernelOperands& operands, AdamWList list) {
  return at::TensorList{operands.inputs}.slice(list * kTensorsOfABlock, kTensorsOfABlock);
}

KernelBytes adamw_bytes(const KernelConfig& config) {
  const std::int64_t d = config.size.d_model;
  const std::int64_t parameters =
      (4 * d * d + 3 * d * config.size.d_ff + 2 * d) * kernel_element_bytes(Precision::kFp32);
  return {.read = 4 * parameters, .written = 3 * parameters};  // p, g, m, v; p, m, v
}

void adamw_fill(KernelOperands& operands) {
  const auto shapes = block_shapes(operands.config.size);
  for (std::size_t list = 0; list < kLists; ++list) {
    for (const auto& shape : shapes) {
      at::Tensor& tensor = add_normal_input(operands, shape);
      if (list == kSecondMoments) tensor.square_().add_(kMinSecondMoment);
    }
  }
}

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p = p (1 - lr decay) - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) +
/// eps).
std::vector<KernelResult> adamw_expect(const KernelOperands& operands) {
  const AdamWOptions options;
  const Precision precision = operands.config.precision;
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
    // A parameter is rounded three times, and a dozen times what is subtracted: 1e-3 of at most z / sqrt(0.1). A moment
    // is rounded twice, and before that 0.1 g and 0.1 m, three times each; and float32's 1 - beta1 is off by 4
    // roundings of 0.1, which weighs g - m.
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

void adamw_prepare(KernelOperands& operands) {
  operands.saved.assign(kTensorsOfABlock, at::full({}, kStepsSoFar, operands.inputs[0].options()));
}

std::vector<at::Tensor> adamw_step(const KernelOperands& operands) {
  const AdamWOptions options;
  at::_fused_adamw_(list_of(operands, kParameters), list_of(operands, kGradients), list_of(operands, kFirstMoments),
                    list_of(operands, kSecondMoments), /*max_exp_avg_sqs=*/{}, operands.saved, options.learning_rate,
                    options.beta1, options.beta2, options.weight_decay, options.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
  std::vector<at::Tensor> results = list_of(operands, kParameters).vec();
  for (const AdamWList list : {kFirstMoments, kSecondMoments}) {
    const at::TensorList tensors = list_of(operands, list);
    results.insert(results.end(), tensors.begin(), tensors.end());
  }
  return results;
}

/// One fused kernel over all tensors; the count of steps stays.
KernelImpl adamw_aten() { return {.name = "aten", .prepare = &adamw_prepare, .forward = &adamw_step}; }

}  // namespace

KernelOp adamw_kernel_op() {
  return {.name = "adamw",
          .passes = {KernelPass::kForward},
          .pass_refusal = "an optimizer's step has no backward",
          .precisions = {Precision::kFp32},
          .precision_refusal = "parameters, gradients and moments are float32 at every precision of a model",
          .counts_tokens = false,
          .is_in_place = true,
          .bytes = &adamw_bytes,
          .fill = &adamw_fill,
          .expect = &adamw_expect,
          .impls = {"impl", {adamw_aten()}}};
}

}  // namespace tbench::model

// What the operations' files share: data, graphs, and the errors that rounding makes.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>
#include <torch/csrc/autograd/autograd.h>

#include "tbench/model/execution_scope.hpp"
#include "tbench/model/operation/data.hpp"
#include "tbench/model/operation/kernel/implementation.hpp"
#include "tbench/model/precision_scope.hpp"

namespace tbench::model {
namespace {

constexpr double kFloatRoundOff = 0x1p-24;
constexpr double kHalfOfTheLeastFp16 = 0x1p-25;  // what rounding to a subnormal number may be off

at::ScalarType storage_type(const KernelOperands& operands) {
  return compute_dtype(operands.config.precision, at::kFloat);
}

/// A number of its own for every buffer of a case.
std::uint64_t next_index(const KernelOperands& operands) { return operands.inputs.size() + operands.gradients.size(); }

at::Tensor next_normal(const KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype) {
  return seeded_normal(shape, dtype, operands.config.device, operands.config.seed, next_index(operands));
}

}  // namespace

at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape) {
  return add_normal_input(operands, shape, storage_type(operands));
}

at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype) {
  return operands.inputs.emplace_back(next_normal(operands, shape, dtype));
}

at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape) {
  return operands.gradients.emplace_back(next_normal(operands, shape, storage_type(operands)));
}

at::Tensor& add_token_input(KernelOperands& operands) {
  const c10::Device device = torch_device(operands.config.device);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(operands.config.seed + next_index(operands));
  return operands.inputs.emplace_back(at::randint(kVocabSize, {operands.config.tokens()}, generator,
                                                  at::TensorOptions{}.device(device).dtype(at::kLong)));
}

void record_graph(KernelOperands& operands, std::vector<at::Tensor> (*forward)(const KernelOperands& operands)) {
  const at::AutoGradMode with_graph{true};
  for (at::Tensor& input : operands.inputs) {
    if (input.is_floating_point()) input.requires_grad_(true);
  }
  operands.saved = forward(operands);
}

std::vector<at::Tensor> graph_gradients(const KernelOperands& operands) {
  const BackwardOnThisThread here;
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& input : operands.inputs) {
    if (input.requires_grad()) inputs.push_back(input);
  }
  return torch::autograd::grad(operands.saved, inputs, operands.gradients, /*retain_graph=*/true);
}

std::int64_t kernel_element_bytes(Precision precision) {
  return static_cast<std::int64_t>(c10::elementSize(compute_dtype(precision, at::kFloat)));
}

at::Tensor exact(const at::Tensor& tensor) { return tensor.detach().to(at::kDouble); }

Tolerance kernel_tolerance(Precision precision, const KernelRoundings& roundings) {
  Tolerance tolerance{.relative = roundings.relative * kFloatRoundOff,
                      .of_rms = roundings.of_rms * kFloatRoundOff,
                      .absolute = precision == Precision::kFp16 ? roundings.least * kHalfOfTheLeastFp16 : 0.0};
  if (precision != Precision::kFp32) {
    tolerance.relative += roundings.stored * unit_roundoff(precision);
    tolerance.of_rms += roundings.stored_of_rms * unit_roundoff(precision);
  }
  return tolerance;
}

}  // namespace tbench::model

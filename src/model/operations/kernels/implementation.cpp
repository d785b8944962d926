#include "model/operations/kernels/implementation.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "model/operations/operation_case.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

at::ScalarType storage_type(const KernelOperands& operands) {
  return compute_dtype(operands.config.precision, at::kFloat);
}

/// Returns a unique number for the next buffer of a case.
std::uint64_t next_index(const KernelOperands& operands) { return operands.inputs.size() + operands.gradients.size(); }

at::Tensor next_normal(const KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype) {
  return seeded_normal(shape, dtype, operands.config.device, operands.config.seed, next_index(operands));
}

}  // namespace

Registry<KernelOp>& kernel_ops() {
  static Registry<KernelOp> ops{
      "op",
      {rmsnorm_kernel_op(), rope_kernel_op(), swiglu_kernel_op(), softmax_kernel_op(), cross_entropy_kernel_op(),
       embedding_kernel_op(), adamw_kernel_op(), cast_kernel_op(), add_kernel_op(), add_rmsnorm_kernel_op(),
       rope_qkv_kernel_op(), swiglu_packed_kernel_op(), cross_entropy_in_place_kernel_op(), adamw_cast_kernel_op(),
       linear_cross_entropy_kernel_op()}};
  return ops;
}

const KernelImpl* find_kernel_impl(std::string_view op, std::string_view name) {
  const KernelOp* const known = kernel_ops().find(op);
  return known == nullptr ? nullptr : known->impls.find(name);
}

std::vector<std::string> kernel_op_names() { return kernel_ops().names(); }

std::vector<std::string> kernel_impl_names() {
  std::vector<std::string> all;
  for (const std::string& op : kernel_op_names()) {
    for (std::string& name : kernel_ops().at(op).impls.names()) {
      if (std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
    }
  }
  return all;
}

at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape) {
  return add_normal_input(operands, shape, storage_type(operands));
}

at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype) {
  return operands.inputs.emplace_back(next_normal(operands, shape, dtype));
}

at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape) {
  return add_normal_gradient(operands, shape, storage_type(operands));
}

at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype) {
  return operands.gradients.emplace_back(next_normal(operands, shape, dtype));
}

at::Tensor& add_token_input(KernelOperands& operands) {
  const c10::Device device = torch_device(operands.config.device);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(operands.config.seed + next_index(operands));
  return operands.inputs.emplace_back(at::randint(operands.config.size.vocab_size, {operands.config.tokens()},
                                                  generator, at::TensorOptions{}.device(device).dtype(at::kLong)));
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

at::Tensor exact(const at::Tensor& tensor) { return tensor.detach().to(at::kDouble); }

}  // namespace tbench::model

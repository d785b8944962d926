// The registry of the Kernel family: its operations, and the implementations of each. A new operation is a file in this
// folder and a line in implementation.cpp; a new implementation is a file and a line in its operation's `impls`. There,
// `aten` is the best that stock LibTorch's operators can do, and `fused` is our kernels.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/torch/compare.hpp"
#include "model/torch/registry.hpp"
#include "tbench/model/kernel_case.hpp"

namespace tbench::model {

/// The inputs of one case. The operation's file documents the order and shapes of the tensors.
struct KernelOperands {
  KernelConfig config;
  std::vector<at::Tensor> inputs;     // inputs of the forward pass
  std::vector<at::Tensor> gradients;  // gradients of its outputs; empty for a forward pass alone
  std::vector<at::Tensor> saved;      // further inputs of the passes, made by prepare()
  std::shared_ptr<void> made{};       // other results of prepare(), of the implementation's own type
};

/// One tensor that a pass computes: its expected value and the allowed error.
struct KernelResult {
  std::string name;
  at::Tensor expected;  // float64
  Tolerance tolerance;
  at::Tensor row_allowance{};  // as Comparison::add takes it
};

/// One way to compute an operation.
struct KernelImpl {
  std::string name;
  /// Returns why the implementation does not support the operation, on a device that exists and supports the precision.
  /// May be null.
  std::optional<std::string> (*unsupported_reason)(const KernelConfig& config){};
  /// Makes the further inputs of the pass, once; for a backward pass, the tensors that a forward pass saves. May be
  /// null.
  void (*prepare)(KernelOperands& operands){};
  /// Returns the results in the order of KernelOp::expect. Never synchronises.
  std::vector<at::Tensor> (*forward)(const KernelOperands& operands);
  /// Runs the backward pass like forward(), any number of times from the same `saved`. Null if the operation has no
  /// backward.
  std::vector<at::Tensor> (*backward)(const KernelOperands& operands){};
  bool is_watched{};  // an OutputChecker checks timed launches: true for plug-ins
};

/// An operation, whatever implementation computes it.
struct KernelOp {
  std::string name;
  std::vector<KernelPass> passes{KernelPass::kForward, KernelPass::kBackward};
  std::string pass_refusal{};  // why there is no other pass
  std::vector<Precision> precisions{Precision::kFp32, Precision::kBf16, Precision::kFp16};
  std::string precision_refusal{};  // why there is no other precision
  bool counts_tokens{true};         // its work grows with batch and context
  bool is_in_place{};               // its results are its inputs
  bool takes_any_size{};            // it has no heads, so that a size's heads and vocabulary may be any
  KernelBytes (*bytes)(const KernelConfig& config);
  /// Returns the FLOP of the matrix products that limit the operation. Null if memory limits it.
  Flop (*flop)(const KernelConfig& config){};
  /// Returns the standard deviation of the normal values of an input. May be null: 1.
  double (*input_deviation)(const KernelConfig& config, std::size_t input){};
  /// Makes the inputs and, for a backward pass, the outputs' gradients: seeded normal values and uniform token ids.
  void (*fill)(KernelOperands& operands);
  /// Computes the expected results in float64 from the formulas and the present operands. Does not synchronise.
  std::vector<KernelResult> (*expect)(const KernelOperands& operands);
  Registry<KernelImpl> impls;
};

[[nodiscard]] KernelOp rmsnorm_kernel_op();
[[nodiscard]] KernelOp rope_kernel_op();
[[nodiscard]] KernelOp swiglu_kernel_op();
[[nodiscard]] KernelOp softmax_kernel_op();
[[nodiscard]] KernelOp cross_entropy_kernel_op();
[[nodiscard]] KernelOp embedding_kernel_op();
[[nodiscard]] KernelOp adamw_kernel_op();
[[nodiscard]] KernelOp cast_kernel_op();
[[nodiscard]] KernelOp add_kernel_op();
[[nodiscard]] KernelOp add_rmsnorm_kernel_op();
[[nodiscard]] KernelOp rope_qkv_kernel_op();
[[nodiscard]] KernelOp swiglu_packed_kernel_op();
[[nodiscard]] KernelOp cross_entropy_in_place_kernel_op();
[[nodiscard]] KernelOp adamw_cast_kernel_op();
[[nodiscard]] KernelOp linear_cross_entropy_kernel_op();

/// Returns all operations, in the order of kernel_op_names().
[[nodiscard]] Registry<KernelOp>& kernel_ops();
/// Finds an implementation of an operation.
/// @return  null if there is no such operation, or if it has no implementation of that name
[[nodiscard]] const KernelImpl* find_kernel_impl(std::string_view op, std::string_view name);

/// Runs `forward` with autograd's graph and saves its outputs, for use in `prepare`. Inputs that are not integers
/// require a gradient from then on.
void record_graph(KernelOperands& operands, std::vector<at::Tensor> (*forward)(const KernelOperands& operands));
/// Returns the inputs' gradients by autograd through the saved outputs, for use in `backward`. The outputs keep their
/// graph. Runs on the calling thread.
[[nodiscard]] std::vector<at::Tensor> graph_gradients(const KernelOperands& operands);

/// Appends a seeded normal tensor in the precision's storage type, or in `dtype`, to the inputs or the gradients.
at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape);
at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype);
at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape);
at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype);
/// Appends uniform token ids of the size's vocabulary, [tokens] int64, to the inputs.
at::Tensor& add_token_input(KernelOperands& operands);

/// Returns a tensor in float64 without a graph, for the references.
[[nodiscard]] at::Tensor exact(const at::Tensor& tensor);

// `fused`: our kernels for the operations of a training step, on tensors. LibTorch's allocator provides the outputs
// inside the timed region, as for ATen's operators. No function below synchronises.

/// Returns why our kernels do not run on the case's device: they need a GPU.
[[nodiscard]] std::optional<std::string> fused_kernel_refusal(const KernelConfig& config);

/// The tensor lists of one step, tensor by tensor. `copies` may be empty.
struct FusedAdamWLists {
  at::TensorList parameters, gradients, first_moments, second_moments, copies;
};
/// Updates the parameters with the options of AdamWOptions. `step` is a float scalar on the device, as in
/// _fused_adamw_.
void own_adamw(const FusedAdamWLists& lists, const at::Tensor& step, Precision copy_precision);

[[nodiscard]] KernelImpl rmsnorm_fused();
[[nodiscard]] KernelImpl add_rmsnorm_fused();
[[nodiscard]] KernelImpl rope_fused();
[[nodiscard]] KernelImpl rope_qkv_fused();
[[nodiscard]] KernelImpl swiglu_fused();
[[nodiscard]] KernelImpl swiglu_packed_fused();
[[nodiscard]] KernelImpl embedding_fused();
[[nodiscard]] KernelImpl cross_entropy_in_place_fused();
[[nodiscard]] KernelImpl linear_cross_entropy_fused();

}  // namespace tbench::model

// The registry of the Kernel family: its operations, and the implementations of each. A new operation is a file in
// this folder and a line in implementation.cpp; a new implementation a file and a line in its operation's `impls`,
// where `aten` is the best operators that stock LibTorch has, and `fused` our kernels.
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

/// The inputs of one case. The operation's file gives the tensors' order and shapes.
struct KernelOperands {
  KernelConfig config;
  std::vector<at::Tensor> inputs;     // of the forward pass
  std::vector<at::Tensor> gradients;  // of its outputs; none for a forward pass alone
  std::vector<at::Tensor> saved;      // by the implementation's prepare(): what its passes read besides
  std::shared_ptr<void> made{};       // whatever else prepare() makes, of the implementation's own type
};

/// One tensor that a pass computes: what it should be, and how far off it may be.
struct KernelResult {
  std::string name;
  at::Tensor expected;  // float64
  Tolerance tolerance;
  at::Tensor row_allowance{};  // as Comparison::add takes it
};

/// One way to compute an operation.
struct KernelImpl {
  std::string name;
  /// Returns why it does not support the operation on a device that exists and knows the precision. May be null.
  std::optional<std::string> (*unsupported_reason)(const KernelConfig& config){};
  /// Makes once what the pass reads besides: for a backward, what a forward pass leaves. May be null.
  void (*prepare)(KernelOperands& operands){};
  /// The results in the order of KernelOp::expect. Never synchronises.
  std::vector<at::Tensor> (*forward)(const KernelOperands& operands);
  /// Runs the backward like forward, any number of times from the same `saved`. Null where the operation has no
  /// backward.
  std::vector<at::Tensor> (*backward)(const KernelOperands& operands){};
  bool is_watched{};  // by an OutputChecker, while it is timed: an implementation from a plug-in
};

/// The operation that is computed, whoever does it.
struct KernelOp {
  std::string name;
  std::vector<KernelPass> passes{KernelPass::kForward, KernelPass::kBackward};
  std::string pass_refusal{};  // why it has no other
  std::vector<Precision> precisions{Precision::kFp32, Precision::kBf16, Precision::kFp16};
  std::string precision_refusal{};  // why it has no other
  bool counts_tokens{true};         // its work grows with batch and context
  bool is_in_place{};               // its results are its inputs
  KernelBytes (*bytes)(const KernelConfig& config);
  /// Makes inputs, and for a backward the outputs' gradients: seeded and normal, token ids uniform.
  void (*fill)(KernelOperands& operands);
  /// In float64 from the formulas, of the operands as they are now. Does not synchronise.
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

/// All of them, in the order of kernel_op_names().
[[nodiscard]] Registry<KernelOp>& kernel_ops();
/// @return  null if there is no such operation, or no implementation of it of that name
[[nodiscard]] const KernelImpl* find_kernel_impl(std::string_view op, std::string_view name);

/// For `prepare`: runs `forward` with a graph and saves its outputs; inputs that are not integers require a gradient
/// from then on.
void record_graph(KernelOperands& operands, std::vector<at::Tensor> (*forward)(const KernelOperands& operands));
/// For `backward`: the inputs' gradients by autograd through the saved outputs, which keep their graph; on the calling
/// thread.
[[nodiscard]] std::vector<at::Tensor> graph_gradients(const KernelOperands& operands);

/// Appends a seeded normal tensor in the precision's storage type, or in `dtype`, to the inputs or the gradients.
at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape);
at::Tensor& add_normal_input(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype);
at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape);
at::Tensor& add_normal_gradient(KernelOperands& operands, at::IntArrayRef shape, at::ScalarType dtype);
/// Appends uniform token ids, [tokens] int64, to the inputs.
at::Tensor& add_token_input(KernelOperands& operands);

/// A tensor as the references read it: float64, without a graph.
[[nodiscard]] at::Tensor exact(const at::Tensor& tensor);

// `fused`: our kernels for the operations that a training step consists of, on tensors. Outputs come from LibTorch's
// allocator inside the timed region, like the outputs of ATen's operators. None synchronises.

/// Our kernels run on a GPU alone.
[[nodiscard]] std::optional<std::string> fused_kernel_refusal(const KernelConfig& config);

/// The lists of one step, tensor by tensor; no copies: an empty list.
struct FusedAdamWLists {
  at::TensorList parameters, gradients, first_moments, second_moments, copies;
};
/// Updates with the options of AdamWOptions. `step` is a float scalar on the device, as _fused_adamw_ has it.
void own_adamw(const FusedAdamWLists& lists, const at::Tensor& step, Precision copy_precision);

[[nodiscard]] KernelImpl rmsnorm_fused();
[[nodiscard]] KernelImpl add_rmsnorm_fused();
[[nodiscard]] KernelImpl rope_fused();
[[nodiscard]] KernelImpl rope_qkv_fused();
[[nodiscard]] KernelImpl swiglu_fused();
[[nodiscard]] KernelImpl swiglu_packed_fused();
[[nodiscard]] KernelImpl embedding_fused();
[[nodiscard]] KernelImpl cross_entropy_in_place_fused();

}  // namespace tbench::model

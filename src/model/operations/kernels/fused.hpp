// `fused`: our kernels for the operations that a training step consists of, on tensors. Outputs come from LibTorch's
// allocator inside the timed region, as those of ATen's operators do. None synchronises.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <optional>
#include <string>

#include "model/operations/kernels/implementation.hpp"

namespace tbench::model {

/// Our kernels run on a GPU alone.
[[nodiscard]] std::optional<std::string> own_kernel_refusal(const KernelConfig& config);

/// The lists of one step, tensor by tensor; no copies: an empty list.
struct OwnAdamWLists {
  at::TensorList parameters, gradients, first_moments, second_moments, copies;
};
/// With the options of AdamWOptions. `step` is a float scalar on the device, as _fused_adamw_ has it.
void own_adamw(const OwnAdamWLists& lists, const at::Tensor& step, Precision copy_precision);

[[nodiscard]] KernelImpl rmsnorm_fused();
[[nodiscard]] KernelImpl add_rmsnorm_fused();
[[nodiscard]] KernelImpl rope_fused();
[[nodiscard]] KernelImpl rope_qkv_fused();
[[nodiscard]] KernelImpl swiglu_fused();
[[nodiscard]] KernelImpl swiglu_packed_fused();
[[nodiscard]] KernelImpl embedding_fused();
[[nodiscard]] KernelImpl cross_entropy_in_place_fused();

}  // namespace tbench::model

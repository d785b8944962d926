// The tensors that a case holds, for the memory pass (Case::live_tensors()).
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Appends the tensor's storage, once however many tensors share it; nothing of an undefined one.
/// @param memory_class  of static storage
void add_live(std::vector<LiveTensor>& live, const at::Tensor& tensor, std::string_view memory_class);

}  // namespace tbench::model

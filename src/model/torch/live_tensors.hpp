// The tensors that a case holds, for the memory pass (Case::live_tensors()).
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Appends the tensor's storage; consecutive tensors that share a storage add it once. Does nothing for an undefined
/// tensor.
/// @param memory_class  memory class, a string with static storage duration
void add_live(std::vector<LiveTensor>& live, const at::Tensor& tensor, std::string_view memory_class);

}  // namespace tbench::model

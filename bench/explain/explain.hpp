// --tb_explain: explains which attention kernels of this project run in a case on a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::bench {

/// A device for which kernels are planned.
struct ExplainedDevice {
  std::string name;  // "H100": its name in the measurements
  kernels::DeviceLimits limits;
};

/// Returns the device of --tb_explain: a100, h100 or h200, even if this machine has another GPU, or the current device
/// for `here`.
/// @throws  UsageError  for another name, and for `here` without a GPU
[[nodiscard]] ExplainedDevice explained_device(std::string_view name);

/// Returns a description of the kernels that a case runs on the device, with a line break at the end. Lines have at
/// most 100 columns, unless the case's name is longer.
[[nodiscard]] std::string explanation_of(const CaseId& id, const ExplainedDevice& device,
                                         const std::vector<ModelSize>& sizes);

}  // namespace tbench::bench

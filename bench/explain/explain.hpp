// --tb_explain: which attention kernels of ours a case runs on a device, and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::bench {

/// A device that plans are made for.
struct ExplainedDevice {
  std::string name;  // "H100"; how the measurements name it
  kernels::DeviceLimits limits;
};

/// Returns the device of --tb_explain: a100, h100 or h200, whatever this machine has, or the current one for `here`.
/// @throws  UsageError  for another name, and for `here` without a GPU
[[nodiscard]] ExplainedDevice explained_device(std::string_view name);

/// Returns what a case runs there, with a line break at the end; lines have at most 100 columns, except for a longer
/// name of a case.
[[nodiscard]] std::string explanation_of(const CaseId& id, const ExplainedDevice& device,
                                         const std::vector<ModelSize>& sizes);

}  // namespace tbench::bench

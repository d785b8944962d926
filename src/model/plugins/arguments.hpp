// The arguments of a plug-in's functions: LibTorch's tensors as the structs of include/tbench/plugin.h, and memory.
// Also the functions' return values, and the layout of an operation's results.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/model/device.hpp"
#include "tbench/model/gemm_case.hpp"
#include "tbench/model/kernel_case.hpp"
#include "tbench/plugin.h"

namespace tbench::model {

/// Returns the plug-in's struct for a tensor.
/// @param tensor  tensor to describe; an undefined tensor has no data
/// @throws        std::logic_error  for a dtype or a number of dimensions that plugin.h does not support
[[nodiscard]] tbench_tensor plugin_tensor(const at::Tensor& tensor);

struct TensorLayout {
  std::vector<std::int64_t> sizes;
  at::TensorOptions options;
};

/// Returns the layouts of the results of `aten` for a pass, in its order. All implementations have to return these
/// layouts. Runs the pass once.
[[nodiscard]] std::vector<TensorLayout> aten_layouts(KernelConfig config, KernelPass pass);

[[nodiscard]] std::int32_t plugin_device(DeviceKind device);
[[nodiscard]] std::int32_t plugin_precision(GemmPrecision precision);
[[nodiscard]] std::int32_t plugin_precision(Precision precision);

/// Allocates uninitialised bytes on the case's device; returns an undefined tensor for 0 bytes.
/// @param what  name of the function that asked for them, for the message
/// @throws      std::runtime_error  for a negative number
[[nodiscard]] at::Tensor plugin_bytes(std::int64_t bytes, DeviceKind device, std::string_view impl,
                                      std::string_view what);
[[nodiscard]] void* plugin_pointer(const at::Tensor& tensor);

/// Describes a launch on LibTorch's current stream.
/// @param workspace  memory from plugin_bytes()
[[nodiscard]] tbench_launch plugin_launch(const at::Tensor& workspace, DeviceKind device);

/// Checks the return value of a plug-in's function.
/// @param message  error message that the function returned; null means success
/// @throws         std::runtime_error  if the message is not null
void require_no_error(const char* message, std::string_view impl, std::string_view function);

/// Returns the reason that the plug-in's `unsupported` returned, or nullopt.
[[nodiscard]] std::optional<std::string> plugin_reason(const char* message);

}  // namespace tbench::model

// The arguments of a plug-in's functions: LibTorch's tensors as the structs of include/tbench/plugin.h, and memory; the
// functions' answers, and the layout of an operation's results.
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

/// @param tensor  undefined: a tensor without data
/// @throws        std::logic_error  for a dtype, or a number of dimensions, that plugin.h does not know
[[nodiscard]] tbench_tensor plugin_tensor(const at::Tensor& tensor);

struct TensorLayout {
  std::vector<std::int64_t> sizes;
  at::TensorOptions options;
};

/// Returns the layouts of what `aten` computes in a pass, in its order, which all implementations have to keep. Runs it
/// once.
[[nodiscard]] std::vector<TensorLayout> aten_layouts(KernelConfig config, KernelPass pass);

[[nodiscard]] std::int32_t plugin_device(DeviceKind device);
[[nodiscard]] std::int32_t plugin_precision(GemmPrecision precision);
[[nodiscard]] std::int32_t plugin_precision(Precision precision);

/// Bytes on the case's device, uninitialised; undefined where none are asked for.
/// @param what  the function that asked, for the message
/// @throws      std::runtime_error  for a negative number
[[nodiscard]] at::Tensor plugin_bytes(std::int64_t bytes, DeviceKind device, std::string_view impl,
                                      std::string_view what);
[[nodiscard]] void* plugin_pointer(const at::Tensor& tensor);

/// A launch on LibTorch's current stream.
/// @param workspace  of plugin_bytes()
[[nodiscard]] tbench_launch plugin_launch(const at::Tensor& workspace, DeviceKind device);

/// @param message  what a function has returned
/// @throws         std::runtime_error  if that is not null
void require_no_error(const char* message, std::string_view impl, std::string_view function);

/// Returns the reason that `unsupported` has returned.
[[nodiscard]] std::optional<std::string> plugin_reason(const char* message);

}  // namespace tbench::model

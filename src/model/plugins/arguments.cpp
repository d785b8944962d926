#include "model/plugins/arguments.hpp"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "model/operations/kernels/implementation.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

std::int32_t plugin_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return TBENCH_DTYPE_F32;
    case at::kBFloat16:
      return TBENCH_DTYPE_BF16;
    case at::kHalf:
      return TBENCH_DTYPE_F16;
    case at::kFloat8_e4m3fn:
      return TBENCH_DTYPE_F8_E4M3;
    case at::kLong:
      return TBENCH_DTYPE_I64;
    default:
      throw std::logic_error{fmt::format("plug-ins take no tensors of {}", c10::toString(type))};
  }
}

}  // namespace

tbench_tensor plugin_tensor(const at::Tensor& tensor) {
  tbench_tensor plain{};
  if (!tensor.defined()) return plain;
  if (tensor.dim() > TBENCH_MAX_DIMS) {
    throw std::logic_error{fmt::format("plug-ins take no tensors of {} dimensions", tensor.dim())};
  }
  plain.data = plugin_pointer(tensor);
  plain.dtype = plugin_dtype(tensor.scalar_type());
  plain.dims = static_cast<std::int32_t>(tensor.dim());
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    plain.sizes[i] = tensor.size(i);
    plain.strides[i] = tensor.stride(i);
  }
  return plain;
}

std::vector<TensorLayout> aten_layouts(KernelConfig config, KernelPass pass) {
  config.pass = pass;
  config.impl = "aten";
  const KernelOp& op = kernel_ops().at(config.op);
  const KernelImpl& aten = op.impls.at(config.impl);
  KernelOperands operands{.config = std::move(config), .inputs = {}, .gradients = {}, .saved = {}};
  op.fill(operands);
  if (aten.prepare != nullptr) aten.prepare(operands);
  std::vector<TensorLayout> layouts;
  for (const at::Tensor& result : pass == KernelPass::kForward ? aten.forward(operands) : aten.backward(operands)) {
    layouts.push_back({.sizes = result.sizes().vec(), .options = result.options()});
  }
  return layouts;
}

std::int32_t plugin_device(DeviceKind device) { return device == DeviceKind::kCuda ? TBENCH_CUDA : TBENCH_CPU; }

std::int32_t plugin_precision(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return TBENCH_FP32;
    case Precision::kTf32:
      return TBENCH_TF32;
    case Precision::kBf16:
      return TBENCH_BF16;
    case Precision::kFp16:
      return TBENCH_FP16;
  }
  throw std::logic_error{"plug-ins do not know the precision"};
}

std::int32_t plugin_precision(GemmPrecision precision) {
  const std::optional<Precision> common = common_precision(precision);
  return common ? plugin_precision(*common) : static_cast<std::int32_t>(TBENCH_FP8_E4M3);
}

at::Tensor plugin_bytes(std::int64_t bytes, DeviceKind device, std::string_view impl, std::string_view what) {
  if (bytes < 0) {
    throw std::runtime_error{fmt::format("plug-in {}: {}() returns {}: it must be at least 0", impl, what, bytes)};
  }
  if (bytes == 0) return {};
  return at::empty({bytes}, at::TensorOptions{}.device(torch_device(device)).dtype(at::kByte));
}

/// Returns a tensor's data. Plug-ins must not write to inputs through the pointer; the checks verify it.
void* plugin_pointer(const at::Tensor& tensor) {
  return tensor.defined() ? const_cast<void*>(tensor.const_data_ptr()) : nullptr;
}

tbench_launch plugin_launch(const at::Tensor& workspace, DeviceKind device) {
  void* const stream = device == DeviceKind::kCuda ? c10::cuda::getCurrentCUDAStream().stream() : nullptr;
  return {.stream = stream,
          .workspace = plugin_pointer(workspace),
          .workspace_bytes = workspace.defined() ? workspace.numel() : 0};
}

void require_no_error(const char* message, std::string_view impl, std::string_view function) {
  if (message == nullptr) return;
  throw std::runtime_error{fmt::format("plug-in {}: {}(): {}", impl, function, message)};
}

std::optional<std::string> plugin_reason(const char* message) {
  return message == nullptr ? std::nullopt : std::optional<std::string>{message};
}

}  // namespace tbench::model

#include "model/torch/package.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <exception>

#include "tbench/core/error.hpp"

namespace tbench::model {

std::string package_machine(DeviceKind device) {
  if (device == DeviceKind::kCpu) return "cpu";
  const cudaDeviceProp* const properties = at::cuda::getCurrentDeviceProperties();
  return fmt::format("sm{}{}", properties->major, properties->minor);
}

std::string package_precision(Precision precision) {
  return std::string{to_string(precision == Precision::kTf32 ? Precision::kFp32 : precision)};
}

std::unique_ptr<CompiledGraph> load_package(const std::string& path, const std::string& graph) {
  try {
    return std::make_unique<CompiledGraph>(path, graph, /*run_single_threaded=*/true);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
    const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
    throw Unsupported{fmt::format("the package '{}' cannot be loaded: {}; delete it and compile it again", path,
                                  of_torch == nullptr ? error.what() : of_torch->what_without_backtrace())};
  }
}

}  // namespace tbench::model

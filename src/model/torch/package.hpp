// Packages of graphs that PyTorch's inductor compiled ahead of time: for which machine they are, and loading one.
#pragma once

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <memory>
#include <string>

#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

using CompiledGraph = torch::inductor::AOTIModelPackageLoader;

/// What the name of a package says of its machine: "cpu", or the compute capability, "sm90".
[[nodiscard]] std::string package_machine(DeviceKind device);
/// And of the precision. TF32 is a setting of the run: fp32's packages serve it.
[[nodiscard]] std::string package_precision(Precision precision);

/// Runs on the current stream without events, which no capture would survive; not thread-safe.
/// @param graph  its name in the package: that of PyTorch where a package has one alone
/// @throws       Unsupported  for a file that is no whole package, or not of this machine's kind; OutOfMemory's causes
///                            pass through
[[nodiscard]] std::unique_ptr<CompiledGraph> load_package(const std::string& path, const std::string& graph = "model");

}  // namespace tbench::model

// Packages of graphs that PyTorch's inductor compiled ahead of time: for which machine they are, loading one, and which
// of tools/compile_model.py a case needs.
#pragma once

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

using CompiledGraph = torch::inductor::AOTIModelPackageLoader;

/// Returns the part of a package's name that says its machine: "cpu", or the compute capability, "sm90".
[[nodiscard]] std::string package_machine(DeviceKind device);
/// Returns the part that says its precision. TF32 is a setting of the run: the packages of fp32 serve it.
[[nodiscard]] std::string package_precision(Precision precision);

/// Runs on the current stream without events, which no capture would survive; not thread-safe.
/// @param graph  its name in the package: PyTorch's own name where a package has one graph alone
/// @throws       Unsupported  for a file that is no whole package, or not of this machine's kind; OutOfMemory's causes
///                            pass through
[[nodiscard]] std::unique_ptr<CompiledGraph> load_package(const std::string& path, const std::string& graph = "model");

/// The graphs of a step: the forward pass alone, or one with the loss and its backward.
enum class ModelGraph { kForward, kTraining, kBackward };

/// The path of a package in the folder of the configuration; the name has the shapes' names, the machine, the precision
/// and the graph.
[[nodiscard]] std::string model_package_path(const ModelConfig& config, ModelGraph graph);
/// Returns the contents that a package of this case states: extents, precision, GPU and PyTorch. A name says less: a
/// size that the user defines, for one, has the extents of that day.
[[nodiscard]] std::string model_package_contents(const ModelConfig& config, ModelGraph graph);
/// Why the case has no packages: no folder, or a file that is not there, with the command that makes it.
[[nodiscard]] std::optional<std::string> model_packages_refusal(const ModelConfig& config);

struct ModelPackage {
  std::unique_ptr<CompiledGraph> graph;
  std::unordered_map<std::string, std::string> metadata;
};

/// @throws  Unsupported  for a file that is damaged, or was made for anything but this case on this machine
[[nodiscard]] ModelPackage load_model_package(const ModelConfig& config, ModelGraph graph);

}  // namespace tbench::model

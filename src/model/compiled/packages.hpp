// Packages of graphs that PyTorch's inductor compiled ahead of time: the machine that a package is for, loading it, and
// the packages of tools/compile_model.py that a case needs.
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

/// Returns the part of a package's name that identifies its machine: "cpu", or the compute capability, such as "sm90".
[[nodiscard]] std::string package_machine(DeviceKind device);
/// Returns the part of a package's name that identifies its precision. TF32 is a setting of the run: it uses the
/// packages of fp32.
[[nodiscard]] std::string package_precision(Precision precision);

/// Loads a graph that runs on the current stream without events, which a capture does not allow. Not thread-safe.
/// @param graph  name of the graph in the package; by default PyTorch's own name for a package with a single graph
/// @throws       Unsupported  for a file that is not a complete package, or was made for another kind of machine;
///               exceptions for a lack of memory pass through
[[nodiscard]] std::unique_ptr<CompiledGraph> load_package(const std::string& path, const std::string& graph = "model");

/// The graphs of a step: the forward pass alone, the forward pass with the loss, and its backward.
enum class ModelGraph { kForward, kTraining, kBackward };

/// Returns the path of a package in the configuration's folder. The file's name has the names of the shapes, the
/// machine, the precision and the graph.
[[nodiscard]] std::string model_package_path(const ModelConfig& config, ModelGraph graph);
/// Returns the contents that a package for this case states: extents, precision, GPU and PyTorch. They say more than
/// the name: the extents of a size that the user defines may have changed since.
[[nodiscard]] std::string model_package_contents(const ModelConfig& config, ModelGraph graph);
/// Returns why the case has no packages: no folder was given, or a file is missing; the text then has the command that
/// makes it. Returns nullopt if all packages are there.
[[nodiscard]] std::optional<std::string> model_packages_refusal(const ModelConfig& config);

struct ModelPackage {
  std::unique_ptr<CompiledGraph> graph;
  std::unordered_map<std::string, std::string> metadata;
};

/// Loads a graph of the case with the package's metadata.
/// @throws  Unsupported  for a file that is damaged, or was made for anything but this case on this machine
[[nodiscard]] ModelPackage load_model_package(const ModelConfig& config, ModelGraph graph);

}  // namespace tbench::model

// Which packages of tools/compile_model.py a case needs, how to make them, and whether one is what its name says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "model/torch/package.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// The graphs of a step: the forward pass alone, or one with the loss and its backward.
enum class ModelGraph { kForward, kTraining, kBackward };

/// In the folder of the configuration; the name has the shapes' names, the machine, the precision and the graph.
[[nodiscard]] std::string model_package_path(const ModelConfig& config, ModelGraph graph);
/// What a package of this case says of itself: extents, precision, GPU and PyTorch. A name says less: a size of the
/// user's, for one, has the extents of that day.
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

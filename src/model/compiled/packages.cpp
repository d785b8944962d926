#include "model/compiled/packages.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

std::string_view name_of(ModelGraph graph) {
  static constexpr std::array<std::string_view, 3> kNames{"forward", "training", "backward"};
  return kNames.at(static_cast<std::size_t>(graph));
}

std::vector<ModelGraph> graphs_of(Pass pass) {
  if (pass == Pass::kForward) return {ModelGraph::kForward};
  return {ModelGraph::kTraining, ModelGraph::kBackward};
}

/// Returns the tool's arguments for a size: its name, or also its extents. The tool knows `tiny` and the course's
/// sizes.
std::string size_arguments(const ModelSize& size) {
  const auto sizes = builtin_model_sizes();
  const auto found = std::ranges::find(sizes, size.name, &ModelSize::name);
  const bool is_known =
      found != sizes.end() && (found->group == SizeGroup::kTest || found->group == SizeGroup::kCourse);
  if (is_known) return "--sizes " + size.name;
  return fmt::format("--size {}:{},{},{},{}", size.name, size.d_model, size.d_ff, size.num_layers, size.num_heads);
}

std::string command_for(const ModelConfig& config) {
  return fmt::format("tools/compile_model.py --out {} {} --contexts {} --batch {} --precision {} --passes {}{}",
                     config.packages.empty() ? "DIR" : config.packages, size_arguments(config.size), config.context,
                     config.batch, package_precision(config.precision),
                     config.pass == Pass::kForward ? "forward" : "training",
                     config.device == DeviceKind::kCpu ? " --device cpu" : "");
}

}  // namespace

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

std::string model_package_path(const ModelConfig& config, ModelGraph graph) {
  return fmt::format("{}/model_{}_{}_{}_ctx{}_batch{}_{}.pt2", config.packages, name_of(graph),
                     package_machine(config.device), config.size.name, config.context, config.batch,
                     package_precision(config.precision));
}

std::string model_package_contents(const ModelConfig& config, ModelGraph graph) {
  const ModelSize& size = config.size;
  const char* const machine = config.device == DeviceKind::kCpu ? "cpu" : at::cuda::getCurrentDeviceProperties()->name;
  return fmt::format(
      "{} of d_model {}, d_ff {}, num_layers {}, num_heads {}, vocab_size {}, ctx {}, batch {}, {}, on {}, PyTorch {}",
      name_of(graph), size.d_model, size.d_ff, size.num_layers, size.num_heads, config.size.vocab_size, config.context,
      config.batch, package_precision(config.precision), machine, TORCH_VERSION);
}

std::optional<std::string> model_packages_refusal(const ModelConfig& config) {
  if (config.packages.empty()) return fmt::format("no packages: {}, then --tb_packages=DIR", command_for(config));
  for (const ModelGraph graph : graphs_of(config.pass)) {
    const std::string path = model_package_path(config, graph);
    if (!std::filesystem::exists(path)) return fmt::format("no package '{}': {}", path, command_for(config));
  }
  return std::nullopt;
}

ModelPackage load_model_package(const ModelConfig& config, ModelGraph graph) {
  const std::string path = model_package_path(config, graph);
  ModelPackage package{.graph = load_package(path), .metadata = {}};
  package.metadata = package.graph->get_metadata();
  const std::string expected = model_package_contents(config, graph);
  const std::string& found = package.metadata["tbench_package"];
  if (found == expected) return package;
  throw Unsupported{fmt::format("the package '{}' is {}, and the case needs {}; delete it, then {}", path,
                                found.empty() ? "none of tools/compile_model.py's" : found, expected,
                                command_for(config))};
}

}  // namespace tbench::model

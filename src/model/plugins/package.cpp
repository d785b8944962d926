#include "model/plugins/package.hpp"

#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kFormat = "1";
constexpr const char* kTool = "tools/export_kernel.py";

using Metadata = std::unordered_map<std::string, std::string>;

/// Returns the name of a graph in the package, like model_name() of the tool.
std::string packed_name(std::size_t index) { return fmt::format("graph{:02}", index); }

std::string one_line(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch == nullptr ? error.what() : of_torch->what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

Metadata metadata_of(const std::string& path) {
  Metadata metadata;
  try {
    metadata = CompiledGraph::load_metadata_from_package(path, packed_name(0));
  } catch (const std::exception& error) {
    throw UsageError{fmt::format("it is not a package of {}: {}", kTool, one_line(error))};
  }
  if (!metadata.contains("tbench_format")) {
    throw UsageError{fmt::format("it is not a package of {}: it does not say what it computes", kTool)};
  }
  return metadata;
}

/// Returns the machine in full: code for a CPU also depends on the CPU's vector instructions.
std::string machine_in_full(DeviceKind device) {
  const std::string machine = package_machine(device);
  return device == DeviceKind::kCpu ? fmt::format("{} {}", machine, at::get_cpu_capability()) : machine;
}

void refuse_another_origin(Metadata& metadata, DeviceKind device) {
  if (const std::string& format = metadata["tbench_format"]; format != kFormat) {
    throw UsageError{fmt::format("it has format {}, this program takes {}: export it with this program's {}", format,
                                 kFormat, kTool)};
  }
  if (const std::string& version = metadata["tbench_torch"]; version != TORCH_VERSION) {
    throw UsageError{
        fmt::format("it was made with PyTorch {}, this program has {}: export it with that", version, TORCH_VERSION)};
  }
  const std::string here = machine_in_full(device);
  if (const std::string& machine = metadata["tbench_machine"]; machine != here) {
    throw UsageError{fmt::format("it was made for {}, this run is on {}: export it here with --device {}", machine,
                                 here, device == DeviceKind::kCpu ? "cpu" : "cuda")};
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream{text};
  return {std::istream_iterator<std::string>{stream}, {}};
}

/// Parses an extent, or returns nullopt.
/// @param text  extent as in "d_ff=16..1048576/8"
std::optional<PackageExtent> parse_extent(const std::string& text) {
  const std::size_t equals = text.find('='), dots = text.find(".."), slash = text.find('/');
  if (equals == std::string::npos || dots == std::string::npos || slash == std::string::npos) return std::nullopt;
  if (equals > dots || dots > slash) return std::nullopt;
  const std::string_view view{text};
  const auto min = parse_integer(view.substr(equals + 1, dots - equals - 1));
  const auto max = parse_integer(view.substr(dots + 2, slash - dots - 2));
  const auto step = parse_integer(view.substr(slash + 1));
  if (!min || !max || !step || *step <= 0) return std::nullopt;
  return PackageExtent{.name = text.substr(0, equals), .min = *min, .max = *max, .step = *step};
}

bool has_graph(const KernelPackage& package, const std::string& key) {
  return std::ranges::find(package.graphs, key) != package.graphs.end();
}

std::string graph_key(std::string_view part, const PackageQuestion& question) {
  return fmt::format("{}/{}{}", part, question.precision, question.flags);
}

std::optional<std::string> extent_refusal(const PackageExtent& extent, std::int64_t value, const std::string& impl) {
  if (value >= extent.min && value <= extent.max && value % extent.step == 0) return std::nullopt;
  const std::string remedy = fmt::format("export it with --fix {}={}", extent.name, value);
  if (extent.min == extent.max) {
    return fmt::format("{} serves {} {} alone, not {}: {}", impl, extent.name, extent.min, value, remedy);
  }
  return fmt::format("{} serves {} from {} to {} in steps of {}, not {}: {}", impl, extent.name, extent.min, extent.max,
                     extent.step, value, remedy);
}

}  // namespace

PackageOrigin package_origin(DeviceKind device) { return {.torch = TORCH_VERSION, .machine = machine_in_full(device)}; }

bool is_kernel_package(std::string_view path) { return path.ends_with(".pt2"); }

KernelPackage read_kernel_package(const std::string& path, DeviceKind device) {
  Metadata metadata = metadata_of(path);
  refuse_another_origin(metadata, device);
  KernelPackage package{.path = path,
                        .name = metadata["tbench_name"],
                        .part = metadata["tbench_part"],
                        .graphs = words_of(metadata["tbench_graphs"]),
                        .extents = {}};
  for (const std::string& word : words_of(metadata["tbench_extents"])) {
    std::optional<PackageExtent> extent = parse_extent(word);
    if (!extent) throw UsageError{fmt::format("it has '{}' among its extents: export it again with {}", word, kTool)};
    package.extents.push_back(std::move(*extent));
  }
  return package;
}

std::optional<std::string> package_refusal(const KernelPackage& package, const PackageQuestion& question) {
  const auto is_of_precision = [&](const std::string& graph) {
    return graph == "forward/" + question.precision || graph.starts_with("forward/" + question.precision + "/");
  };
  if (std::ranges::none_of(package.graphs, is_of_precision)) {
    return fmt::format("{} has nothing in {}: export it with --precision {}", package.name, question.precision,
                       question.precision);
  }
  if (!has_graph(package, graph_key("forward", question))) {
    return fmt::format("{} has nothing for {}: export it without --fix of that", package.name,
                       question.flags.substr(1));
  }
  if (question.with_backward && !has_graph(package, graph_key("backward", question))) {
    return fmt::format("{} has no backward pass: export it with --backward", package.name);
  }
  for (const PackageExtent& extent : package.extents) {
    const auto value = question.extents.find(extent.name);
    if (value == question.extents.end()) return fmt::format("{} has no extent {}", package.part, extent.name);
    if (auto reason = extent_refusal(extent, value->second, package.name)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> result_fault(std::span<const at::Tensor> results, std::span<const at::ScalarType> dtypes) {
  if (results.size() < dtypes.size()) {
    return fmt::format("it returns {} tensors, not {}", results.size(), dtypes.size());
  }
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    if (results[i].scalar_type() == dtypes[i] && results[i].is_contiguous()) continue;
    return fmt::format("result {} is {} of strides [{}], not {} and contiguous", i,
                       c10::toString(results[i].scalar_type()), fmt::join(results[i].strides().vec(), ", "),
                       c10::toString(dtypes[i]));
  }
  return std::nullopt;
}

PackageGraph::PackageGraph(const KernelPackage& package, const std::string& key) : impl_{package.name}, key_{key} {
  const auto found = std::ranges::find(package.graphs, key);
  if (found == package.graphs.end()) throw std::logic_error{fmt::format("{} has no graph {}", package.path, key)};
  graph_ = load_package(package.path, packed_name(static_cast<std::size_t>(found - package.graphs.begin())));
}

std::vector<at::Tensor> PackageGraph::run(const std::vector<at::Tensor>& inputs,
                                          std::span<const at::ScalarType> dtypes) const {
  std::vector<at::Tensor> results = graph_->run(inputs);
  if (const auto fault = result_fault(results, dtypes)) {
    throw std::runtime_error{fmt::format("plug-in {}: {}: {}", impl_, key_, *fault)};
  }
  return results;
}

PackageGraphs load_package_graphs(const KernelPackage& package, const PackageQuestion& question) {
  const std::string training = graph_key("training", question);
  const bool trains = question.with_backward && has_graph(package, training);
  PackageGraphs graphs{.forward = {package, trains ? training : graph_key("forward", question)}, .backward = {}};
  if (question.with_backward) graphs.backward.emplace(package, graph_key("backward", question));
  return graphs;
}

}  // namespace tbench::model

// A plug-in that is a package: what tools/export_kernel.py has noted of it, and its graphs. A package is a function in
// Python that PyTorch's inductor has compiled ahead of time. What its graphs return is the result: nothing is copied.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/attention/implementation.hpp"
#include "model/compiled/packages.hpp"
#include "model/operations/gemm/implementation.hpp"
#include "model/operations/kernels/implementation.hpp"

namespace tbench::model {

/// The values of one extent that a package serves.
struct PackageExtent {
  std::string name;  // "d_ff"
  std::int64_t min{}, max{}, step{};
};

struct KernelPackage {
  std::string path;
  std::string name;  // the value of `impl`
  std::string part;  // as Plugin::parts has it
  /// In the order in which they are packed: "forward/fp32", "training/bf16/causal1". `training` is a forward pass that
  /// returns what `backward` reads besides; without one `forward` stands for it.
  std::vector<std::string> graphs;
  std::vector<PackageExtent> extents;
};

/// Whether a plug-in's file is a package, by its name.
[[nodiscard]] bool is_kernel_package(std::string_view path);

/// Reads what a package says of itself. Runs nothing of it.
/// @param device  that the run is on
/// @throws        UsageError  that says what is wrong: it is none of tools/export_kernel.py, of another format, made
///                            with another PyTorch, or for another machine
[[nodiscard]] KernelPackage read_kernel_package(const std::string& path, DeviceKind device);

/// The question that a case asks a package.
struct PackageQuestion {
  std::string precision;                        // "bf16"
  std::string flags;                            // "/causal1", or empty
  bool with_backward{};                         // the pass has a backward
  std::map<std::string, std::int64_t> extents;  // all that the operation has
};

/// Why the package cannot compute it.
[[nodiscard]] std::optional<std::string> package_refusal(const KernelPackage& package, const PackageQuestion& question);

/// Returns what is wrong with the results of a graph, but for their shapes and values, which verification looks at: one
/// is missing, of another dtype or not contiguous. That would be another amount of work than the other implementations
/// do.
[[nodiscard]] std::optional<std::string> result_fault(std::span<const at::Tensor> results,
                                                      std::span<const at::ScalarType> dtypes);

/// A graph that was loaded. Runs on the current stream.
class PackageGraph {
 public:
  /// @throws  Unsupported  if it cannot be loaded
  PackageGraph(const KernelPackage& package, const std::string& key);

  /// @param dtypes  of the results that the case takes; there may be more
  /// @throws        std::runtime_error  if result_fault() finds one
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs,
                                            std::span<const at::ScalarType> dtypes) const;

 private:
  std::string impl_, key_;
  std::unique_ptr<CompiledGraph> graph_;
};

/// The graphs of one case.
struct PackageGraphs {
  PackageGraph forward;  // of a case with a backward pass the one that goes before it
  std::optional<PackageGraph> backward;
};
[[nodiscard]] PackageGraphs load_package_graphs(const KernelPackage& package, const PackageQuestion& question);

/// The implementations that packages make of a name.
[[nodiscard]] AttentionImpl package_attention_impl(const std::string& name);
[[nodiscard]] GemmImpl package_gemm_impl(const std::string& name);
[[nodiscard]] KernelImpl package_kernel_impl(const std::string& name);

}  // namespace tbench::model

// A plug-in that is a package: the metadata that tools/export_kernel.py wrote, and its graphs. A package is a Python
// function that PyTorch's inductor has compiled ahead of time. The outputs of its graphs are the results: nothing is
// copied.
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
  std::string part;  // in the notation of Plugin::parts
  /// Names of the graphs in the order of packing: "forward/fp32", "training/bf16/causal1". `training` is a forward pass
  /// that also returns the inputs of `backward`; in a package without `training`, `forward` does so.
  std::vector<std::string> graphs;
  std::vector<PackageExtent> extents;
};

/// Returns whether a plug-in's file is a package, judging by its name.
[[nodiscard]] bool is_kernel_package(std::string_view path);

/// Reads a package's metadata. Runs none of its code.
/// @param device  device of the run
/// @throws        UsageError  with the fault: the file is not a package of tools/export_kernel.py, has another format,
///                or was made with another PyTorch or for another machine
[[nodiscard]] KernelPackage read_kernel_package(const std::string& path, DeviceKind device);

/// The question that a case asks a package.
struct PackageQuestion {
  std::string precision;                        // "bf16"
  std::string flags;                            // "/causal1", or empty
  bool with_backward{};                         // whether a backward pass is included
  std::map<std::string, std::int64_t> extents;  // all extents of the operation
};

/// Returns why the package does not support the question, or nullopt.
[[nodiscard]] std::optional<std::string> package_refusal(const KernelPackage& package, const PackageQuestion& question);

/// Returns the fault in the results of a graph: one is missing, has another dtype or is not contiguous. Such a graph
/// would do a different amount of work than the other implementations. Does not check shapes and values, which
/// verification checks.
[[nodiscard]] std::optional<std::string> result_fault(std::span<const at::Tensor> results,
                                                      std::span<const at::ScalarType> dtypes);

/// A loaded graph. Runs on the current stream.
class PackageGraph {
 public:
  /// Loads a graph of a package.
  /// @throws  Unsupported  if it cannot be loaded
  PackageGraph(const KernelPackage& package, const std::string& key);

  /// Runs the graph.
  /// @param dtypes  dtypes of the results that the case uses; the graph may return more
  /// @throws        std::runtime_error  if result_fault() finds a fault
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs,
                                            std::span<const at::ScalarType> dtypes) const;

 private:
  std::string impl_, key_;
  std::unique_ptr<CompiledGraph> graph_;
};

/// The graphs of one case.
struct PackageGraphs {
  PackageGraph forward;  // in a backward case, the forward pass before it
  std::optional<PackageGraph> backward;
};
[[nodiscard]] PackageGraphs load_package_graphs(const KernelPackage& package, const PackageQuestion& question);

/// Return the implementation `name`, which packages provide.
[[nodiscard]] AttentionImpl package_attention_impl(const std::string& name);
[[nodiscard]] GemmImpl package_gemm_impl(const std::string& name);
[[nodiscard]] KernelImpl package_kernel_impl(const std::string& name);

}  // namespace tbench::model

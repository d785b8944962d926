// A plug-in that is a Python function, `FILE.py:FUNCTION`: its name, its family, and the packages that the cases of a
// run need.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {

/// The parts of `FILE.py:FUNCTION`.
struct PythonFunction {
  std::string file;
  std::string function;
  std::string op;  // operation, in the spelling of tools/export_kernel.py
};

/// Parses the path of a Python function. A function named after an operation of the family Kernel, or `gemm`, computes
/// that operation; any other function computes attention.
/// @param path  `FILE.py:FUNCTION`
[[nodiscard]] PythonFunction parse_python_function(const std::string& path);

/// Returns the plug-in without packages, with the function's name and the file's digest.
/// @throws  UsageError  if no implementation can have this name
[[nodiscard]] model::Plugin declared_function(const std::string& path);

/// A package that cases need: its precision, and the extents that it fixes in the form of --fix, such as
/// `heads=1,head_dim=64`.
struct PackageNeed {
  std::string precision;
  std::string fix;
  bool operator==(const PackageNeed&) const = default;
};

/// Returns the packages for all cases of the implementation, each once. PyTorch compiles different code for an extent
/// of 1, and kernels are written for one head_dim: attention therefore needs a package for each head_dim, with one head
/// and with several.
[[nodiscard]] std::vector<PackageNeed> needed_packages(const model::Plugin& plugin, std::span<const CaseId> cases);

}  // namespace tbench::bench

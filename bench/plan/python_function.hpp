// A plug-in that is a function in Python, `FILE.py:FUNCTION`: its name, the family that it joins, and the packages that
// the cases of a run need of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {

/// `FILE.py` and `FUNCTION`.
struct PythonFunction {
  std::string file;
  std::string function;
  std::string op;  // as tools/export_kernel.py takes it
};

/// A function that has the name of an operation of the family Kernel, or `gemm`, computes that; others are attention.
/// @param path  `FILE.py:FUNCTION`
[[nodiscard]] PythonFunction parse_python_function(const std::string& path);

/// The plug-in before it has packages. It has the function's name and the file's digest.
/// @throws  UsageError  for a name that no implementation can have
[[nodiscard]] model::Plugin declared_function(const std::string& path);

/// A package that cases need: its precision, and the extents that it fixes, as --fix takes them: `heads=1,head_dim=64`.
struct PackageNeed {
  std::string precision;
  std::string fix;
  bool operator==(const PackageNeed&) const = default;
};

/// The packages of all cases of the implementation, each once. PyTorch compiles other code for an extent of 1, and
/// kernels are written for one head_dim: attention gets a package for each head_dim, with one head and with several.
[[nodiscard]] std::vector<PackageNeed> needed_packages(const model::Plugin& plugin, std::span<const CaseId> cases);

}  // namespace tbench::bench

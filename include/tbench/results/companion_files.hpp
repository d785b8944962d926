// Files next to results that are not results: times of the same cases from PyTorch or Nsight Compute, the verdict of a
// build's comparison with itself, and the manifest of a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/environment.hpp"

namespace tbench::results {

/// The time that tools/time_pytorch_model.py or tools/time_pytorch_ceilings.py measured for one case.
struct PytorchTime {
  CaseId id;
  double median_ms{};
  std::optional<double> per_second;  // bytes or FLOP per second; ceilings only
};

/// Reads the times in the file's order. A file whose name ends in .gz is unpacked.
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] std::vector<PytorchTime> read_pytorch_times(const std::string& path);

/// The times that Nsight Compute measured for one case's kernels, added up by tools/ncu_kernel_times.py.
struct NcuTimes {
  struct Kernel {
    std::string symbol;  // mangled
    std::int64_t launches{};
    double total_us{};  // time of all launches together
  };
  CaseId id;
  std::vector<Kernel> kernels;
};

/// Reads the times of one case's kernels.
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] NcuTimes read_ncu_times(const std::string& path);

/// A case's row in the output of tests/bench/aa_check.py, which compares sets of results from the same build: A, A', B,
/// and B with a slowdown injected into the samples of this case. Ratios compare medians.
struct SelfComparison {
  struct Seen {
    double ratio{};
    std::string outcome;
  };
  CaseId id;
  Seen same, other, planted;  // A to A', A to B, A to B with the injected slowdown
  double factor{};            // injected
  double detectable{};        // smallest relative change that the comparison would have found
};

/// Reads the rows in the file's order.
/// @throws  UsageError  under the conditions of read_pytorch_times()
[[nodiscard]] std::vector<SelfComparison> read_self_comparison(const std::string& path);

/// Returns the first four digits of the GPU's UUID, by which pages name a machine, or `no GPU`. Several GPUs are joined
/// by `+`: `3fbd+9bd5`.
[[nodiscard]] std::string machine_of(const Environment& environment);

/// The description of a file in a folder of results: its content, its machine and its build.
struct ManifestEntry {
  std::string file;  // relative to the manifest's folder
  std::string what;
  std::string machine;               // the first four digits of the GPU's UUID
  std::optional<std::string> build;  // build_name(); absent for files that are not results
};

/// Reads a manifest and compares it with its folder: each listed file must exist, no other `.json.gz` may exist, and
/// machine (by the GPU's UUID) and build must agree with the results.
/// @throws  UsageError  naming the file, the problem and the remedy, or the first difference from the folder
[[nodiscard]] std::vector<ManifestEntry> read_manifest(const std::string& path);

}  // namespace tbench::results

// Files that lie beside results and are not results: times that PyTorch or Nsight Compute took of the same cases, the
// verdict of a build's comparison with itself, and the manifest of a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"

namespace tbench::results {

/// The time that tools/time_pytorch_model.py or tools/time_pytorch_ceilings.py measured for one case.
struct PytorchTime {
  CaseId id;
  double median_ms{};
  std::optional<double> per_second;  // bytes or FLOP; of ceilings alone
};

/// Reads the times in the file's order. A name that ends in .gz is read as packed.
/// @throws  UsageError  naming the file, the problem and the remedy
[[nodiscard]] std::vector<PytorchTime> read_pytorch_times(const std::string& path);

/// The times that Nsight Compute measured for one case's kernels, added up by tools/ncu_kernel_times.py.
struct NcuTimes {
  struct Kernel {
    std::string symbol;  // mangled
    std::int64_t launches{};
    double total_us{};  // of all launches
  };
  CaseId id;
  std::vector<Kernel> kernels;
};

/// @throws  as read_pytorch_times
[[nodiscard]] NcuTimes read_ncu_times(const std::string& path);

/// A case's row of tests/bench/aa_check.py: two sets A and A' of one build, a third one B, and B again with a slowdown
/// injected into the samples of this case. Ratios are of medians.
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

/// @throws  as read_pytorch_times
[[nodiscard]] std::vector<SelfComparison> read_self_comparison(const std::string& path);

/// A file of a folder of results: what it is of, on which machine and with which build it was made.
struct ManifestEntry {
  std::string file;  // relative to the manifest's folder
  std::string what;
  std::string machine;               // a name for a GPU
  std::optional<std::string> build;  // build_name(); absent for files that are not results
};

/// Reads a manifest and compares it with its folder: every file of it is there, and no other `.json.gz` is below it;
/// machine (by the GPU's UUID) and build are those that the results name.
/// @throws  as read_pytorch_times, and UsageError naming the first difference
[[nodiscard]] std::vector<ManifestEntry> read_manifest(const std::string& path);

}  // namespace tbench::results

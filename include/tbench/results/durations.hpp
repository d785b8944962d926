// How long each case takes on one GPU model, as `tbench durations` writes it to bench/durations/GPU.csv: what a run
// plans its time by. No result depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/units.hpp"

namespace tbench::results {

/// The time that a case costs a run: building, verifying, sampling, tracing, and the start of its own process where it
/// needs one.
struct CaseDuration {
  Seconds time;
  Status status{};
  bool operator==(const CaseDuration&) const = default;
};

/// The time that a case is expected to take.
struct DurationEstimate {
  Seconds time;
  bool is_measured{};  // false: derived from other cases
};

/// The format:
///
///     # format: 1
///     # gpu: NVIDIA H100 80GB HBM3
///     # memory_bytes: 85520809984
///     # builds: 20df4902425a, 8c1f03aa9be1
///     # files: 12
///     case,seconds,status
///     Gemm/m:2048/...,0.512,ok
class DurationTable {
 public:
  /// @param name  a file's, for messages and the record of a run
  /// @throws      UsageError  naming `name`, the line, the value and the remedy: no rows, a header line that is missing
  ///                          or unknown, a row that is malformed, a case twice, seconds below 0 or not finite, an
  ///                          unknown status
  [[nodiscard]] static DurationTable parse(std::string_view text, std::string_view name);

  /// The name of the GPU as NVML has it: "NVIDIA H100 80GB HBM3".
  [[nodiscard]] const std::string& gpu() const { return gpu_; }
  /// The smallest memory of the GPUs that measured it.
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_bytes_; }
  /// The first 12 hexadecimal digits of the SHA-256 of the text.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// `nvidia_h100@20df4902425a`: the file's name without folders and ending, and the digest.
  [[nodiscard]] std::string label() const;
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

  /// The case's own row, or null.
  [[nodiscard]] const CaseDuration* find(const CaseId& id) const;

  /// Returns the own row of the case. Without one, it returns the median of the rows that differ from it in the
  /// precision alone; without those, in the pass, ctx or impl alone, or in any one key; else the median of its family,
  /// else the median of the table. Rows whose status has no time count only where no other row is left.
  [[nodiscard]] DurationEstimate estimate(const CaseId& id) const;

 private:
  struct Row {
    CaseId id;
    CaseDuration duration;
  };
  struct Family {
    std::vector<Row> rows;
    Seconds median;
  };

  void add_row(std::string_view line, const std::string& where);
  void finish();
  [[nodiscard]] std::optional<Seconds> neighbours_median(const CaseId& id) const;

  std::string name_;
  std::string gpu_;
  std::int64_t memory_bytes_{};
  std::string digest_;
  std::map<std::string, CaseDuration> by_name_;
  std::map<std::string, Family> families_;
  Seconds median_;
};

/// The tables that the program was built with: bench/durations/*.csv.
[[nodiscard]] std::span<const DurationTable> built_in_durations();

/// The built-in table of this GPU model, or null.
[[nodiscard]] const DurationTable* find_built_in_durations(std::string_view gpu);

/// The built-in table of an H100, which stands in for GPU models that have none.
[[nodiscard]] const DurationTable& reference_durations();

}  // namespace tbench::results

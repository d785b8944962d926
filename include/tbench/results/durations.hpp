// The duration of each case on one GPU model, as `tbench durations` writes it to bench/durations/GPU.csv. A run plans
// its time with it. No result depends on it.
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

/// The time that a case costs a run: building, verifying, sampling, tracing, and the start of its own process if it has
/// one.
struct CaseDuration {
  Seconds time;
  Status status{};
  bool operator==(const CaseDuration&) const = default;
};

/// The time that a case is expected to take.
struct DurationEstimate {
  Seconds time;
  bool is_measured{};  // false if derived from other cases
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
  /// Parses a table of durations.
  /// @param name  name of the file, for messages and the record of a run
  /// @throws      UsageError  naming `name`, the line, the value and the remedy: there are no rows, a header line
  ///                          is missing or unknown, a row is malformed, a case is repeated, seconds are below 0 or
  ///                          not finite, or a status is unknown
  [[nodiscard]] static DurationTable parse(std::string_view text, std::string_view name);

  /// Returns the GPU's name as NVML reports it: "NVIDIA H100 80GB HBM3".
  [[nodiscard]] const std::string& gpu() const { return gpu_; }
  /// Returns the least memory, in bytes, among the GPUs that measured the table.
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_bytes_; }
  /// Returns the first 12 hexadecimal digits of the SHA-256 of the text.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// Returns the file's name without folders and extension, and the digest: `nvidia_h100@20df4902425a`.
  [[nodiscard]] std::string label() const;
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

  /// Returns the case's own row, or null if it has none.
  [[nodiscard]] const CaseDuration* find(const CaseId& id) const;

  /// Estimates a case's duration from its own row or, if it has none, from the median of the most similar rows. The
  /// most similar rows differ only in the precision. If there are none, rows that differ only in pass count, then in
  /// ctx, then in impl, then in any single key. If there are none of these either, all rows of the family count, and
  /// without such rows, all rows. In a family with times, rows without a time do not count.
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

/// Returns the built-in tables: bench/durations/*.csv.
[[nodiscard]] std::span<const DurationTable> built_in_durations();

/// Returns the built-in table of this GPU model, or null if there is none.
[[nodiscard]] const DurationTable* find_built_in_durations(std::string_view gpu);

/// Returns the built-in table of an H100, the substitute for GPU models without a table.
[[nodiscard]] const DurationTable& reference_durations();

}  // namespace tbench::results

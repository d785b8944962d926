// One measurement of a case, reduced to the few numbers that comparisons and histories need. Samples are not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"

namespace tbench::results {

/// The source of a replicate's SM clock. Sources disagree for the same work. A continuously polled clock and a clock
/// read at the start of each chunk differ by up to a third. A counted and a polled clock differ by 9 % at the power
/// limit (H200).
enum class ClockKind { kChunk, kPolled, kCounted };

/// One measurement of a case, normally in a process of its own.
struct Replicate {
  Status status{Status::kOk};
  std::string reason;                         // empty if the status is ok
  std::optional<Seconds> time;                // median of the samples, above 0
  std::optional<Seconds> device_time;         // GPU time per step, from the trace; above 0
  std::optional<double> relative_half_width;  // of the median's 95 % interval inside the process
  std::optional<Hertz> sm_clock;              // mean while sampling; the median in older files
  std::optional<ClockKind> clock_kind;        // absent without a clock, and if the file does not name it
  std::optional<std::int64_t> peak_bytes;     // peak in the allocator's blocks
  std::optional<std::int64_t>
      requested_peak_bytes;  // exact peak that tensors requested; absent before schema version 6
  std::optional<Flop> work;
  std::optional<double> peak_share_at_clock;  // share of the datasheet's dense rate at the measured clock
  std::optional<double> ceiling_share;        // share of the ceiling measured in the same run
  std::optional<Regime> regime;               // absent without a time, and in plain Google Benchmark JSON
  std::optional<L2State> l2;
  std::optional<std::uint64_t> samples_digest;  // absent if equal samples may be chance: samples_digest()
  std::string ceiling;             // the `what` of the Ceiling case that it is compared with; empty if none or unknown
  std::optional<bool> host_bound;  // whether the host limits the time; absent if unknown
  bool at_power_limit{};           // whether the power limit lowered the clock at any time while sampling
};

/// A case with all its replicates.
struct MeasuredCase {
  CaseId id;
  std::string key;  // match_key() of the case
  std::vector<Replicate> replicates;
};

/// Returns the key by which cases are matched: family and parameters, independent of the parameters' order.
[[nodiscard]] std::string match_key(const CaseId& id);

/// The least number of distinct samples from which equal samples mark a copy. Fewer may coincide by chance if a timer
/// is coarse. All committed records of at least five samples have at least five distinct samples, and no two records
/// have the same samples.
inline constexpr std::size_t kFewestDifferentSamples = 5;

/// Returns a digest of the samples in their order. Different samples collide with probability 2^-64.
/// @return  the digest, or nullopt for fewer than kFewestDifferentSamples distinct samples
[[nodiscard]] std::optional<std::uint64_t> samples_digest(std::span<const double> samples_s);

/// Reduces a record to a case with one replicate.
/// @throws  std::runtime_error  for a median that is not above 0
[[nodiscard]] MeasuredCase measured_case(const Record& record);

/// Returns the case for a benchmark name of any program. `Family/key:value/...` is a case with parameters and matches a
/// case of this project; any other name is a family of its own.
[[nodiscard]] CaseId case_of_name(const std::string& name);

}  // namespace tbench::results

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

/// The source of a replicate's SM clock. Two sources tell different clocks of the same work: a clock polled all the
/// time and one read at the begin of each chunk by up to a third, a counted and a polled one at the power limit by 9 %
/// (H200).
enum class ClockKind { kChunk, kPolled, kCounted };

/// One measurement of a case, if all is well in a process of its own.
struct Replicate {
  Status status{Status::kOk};
  std::string reason;                                // empty if the status is ok
  std::optional<Seconds> time;                       // median of the samples, above 0
  std::optional<Seconds> device_time;                // that the GPU worked in a step, by its trace; above 0
  std::optional<double> relative_half_width;         // of the median's 95 % interval inside the process
  std::optional<Hertz> sm_clock;                     // mean while sampling, in older files the median
  std::optional<ClockKind> clock_kind;               // absent without a clock, and where it is not told
  std::optional<std::int64_t> peak_bytes;            // in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // that tensors asked for: exact; absent before schema version 6
  std::optional<Flop> work;
  std::optional<double> peak_share_at_clock;  // share of the datasheet's dense rate at the measured clock
  std::optional<double> ceiling_share;        // share of the ceiling measured in the same run
  std::optional<Regime> regime;               // absent without a time, and in plain Google Benchmark JSON
  std::optional<L2State> l2;
  std::optional<std::uint64_t> samples_digest;  // absent where equal samples may be chance: samples_digest()
  std::string ceiling;             // the `what` of the Ceiling case that it is held against; empty: none, or unknown
  std::optional<bool> host_bound;  // the host's time limits it; absent where that is unknown
  bool at_power_limit{};           // the power limit held the clock down at any time while sampling
};

/// A case with all its replicates.
struct MeasuredCase {
  CaseId id;
  std::string key;  // match_key
  std::vector<Replicate> replicates;
};

/// Returns the key by which cases are matched: family and parameters, whatever the order of these.
[[nodiscard]] std::string match_key(const CaseId& id);

/// Different samples that a record has at least, for equal ones to be a copy: a few may coincide, where a timer is
/// coarse. All of 15,030 committed records have five, and no two the same.
inline constexpr std::size_t kFewestDifferentSamples = 5;

/// Returns a digest that equal samples in an equal order share; other samples share it once in 2^64.
/// @return  nothing for fewer than kFewestDifferentSamples
[[nodiscard]] std::optional<std::uint64_t> samples_digest(std::span<const double> samples_s);

/// The record as a case with one replicate.
/// @throws  std::runtime_error  for a median that is not above 0
[[nodiscard]] MeasuredCase measured_case(const Record& record);

/// The case that a name of any program stands for: `Family/key:value/...` is a case with parameters, so that it finds
/// its partner among ours; any other name is a family of its own.
[[nodiscard]] CaseId case_of_name(const std::string& name);

}  // namespace tbench::results

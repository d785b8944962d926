// One measurement of a case, reduced to the few numbers that comparisons and histories need: from a record of ours, or
// from an entry of JSON that Google Benchmark wrote without us. Samples are not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::results {

/// One measurement of a case, if all is well in a process of its own.
struct Replicate {
  Status status{Status::kOk};
  std::string reason;                                // empty if the status is ok
  std::optional<Seconds> time;                       // median of the samples, above 0
  std::optional<Seconds> device_time;                // that the GPU worked in a step, by its trace; above 0
  std::optional<double> relative_half_width;         // of the median's 95 % interval inside the process
  std::optional<Hertz> sm_clock;                     // mean while sampling, in older files the median
  std::optional<ClockSource> clock_source;           // absent without a clock, and where it is not told
  std::optional<std::int64_t> peak_bytes;            // in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // that tensors asked for: exact; absent before schema version 6
  std::optional<Flop> work;
  std::optional<double> mfu;            // share of the datasheet's dense rate at the measured clock
  std::optional<double> ceiling_share;  // share of the ceiling measured in the same run
  std::optional<Regime> regime;         // absent without a time, and in plain Google Benchmark JSON
  std::optional<L2State> l2;
  std::string ceiling;             // the `what` of the Ceiling case that it is held against; empty: none, or unknown
  std::optional<bool> host_bound;  // the host's time limits it; absent where that is unknown
};

/// A case with all its replicates.
struct MeasuredCase {
  CaseId id;
  std::string key;  // match_key
  std::vector<Replicate> replicates;
};

/// What cases are matched by: family and parameters, the order of which does not matter.
[[nodiscard]] std::string match_key(const CaseId& id);

/// The record as a case with one replicate.
/// @throws  std::runtime_error  for a median that is not above 0
[[nodiscard]] MeasuredCase measured_case(const Record& record);

/// `name` without the parts that Google Benchmark appends to say how it measured.
[[nodiscard]] std::string plain_case_name(const std::string& name);

/// The case that a name of any program stands for: `Family/key:value/...` is a case with parameters, so that it finds
/// its partner among ours; any other name is a family of its own.
[[nodiscard]] CaseId case_of_name(const std::string& name);

/// @return  nothing for an aggregate of other entries
/// @throws  std::runtime_error  naming `where`, for an entry without a name, or without an error and a time above 0
[[nodiscard]] std::optional<MeasuredCase> plain_case(const Json& entry, const std::string& where);

}  // namespace tbench::results

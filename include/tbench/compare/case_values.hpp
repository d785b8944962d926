// The values of a case on one side of a comparison, over all its processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::compare {

/// Returns the rank of a status by severity. A side has the worst status of its replicates.
[[nodiscard]] int severity(Status status);

/// Returns the replicate with the worst status.
[[nodiscard]] const results::Replicate& worst_of(const results::MeasuredCase& c);
/// Returns ln of the median time in seconds, or nullopt unless every process is `ok`.
[[nodiscard]] std::optional<double> value_of(const results::MeasuredCase& c);
/// Returns ln of the median GPU time per step in seconds, or nullopt unless value_of() has a value and every process
/// has a GPU time.
[[nodiscard]] std::optional<double> device_value_of(const results::MeasuredCase& c);
/// Returns the largest peak over the case's processes, in bytes of the allocator's blocks.
[[nodiscard]] std::optional<std::int64_t> peak_of(const results::MeasuredCase& c);
/// Returns the largest peak of the bytes that tensors requested, or nullopt unless every process with a peak has this
/// peak as well.
[[nodiscard]] std::optional<std::int64_t> requested_peak_of(const results::MeasuredCase& c);
/// Returns ln of the times in seconds of the processes that have a time.
[[nodiscard]] std::vector<double> log_times(const results::MeasuredCase& c);

/// Returns whether a status is a failure or out of memory: an `ok` case that gets such a status has regressed.
[[nodiscard]] bool is_bad(Status status);

/// Returns ln of a measure for the replicates that have it.
[[nodiscard]] std::vector<double> logarithms(std::span<const results::Replicate> replicates,
                                             const std::function<std::optional<double>(const results::Replicate&)>& of);

// A replicate's time and its GPU time per step, in seconds. Each is nullopt without a time; the second also without a
// trace.
[[nodiscard]] std::optional<double> time_of(const results::Replicate& replicate);
[[nodiscard]] std::optional<double> device_time_of(const results::Replicate& replicate);

/// Prefix of the reason of a case that was measured, but has no time that can be compared. Its status is `unsupported`.
inline constexpr std::string_view kNotComparable = "not comparable";

}  // namespace tbench::compare

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

/// How bad a status is; a side has the worst status of its replicates.
[[nodiscard]] int severity(Status status);

/// The replicate with the worst status.
[[nodiscard]] const results::Replicate& worst_of(const results::MeasuredCase& c);
/// ln of the median time in seconds; absent unless every process is `ok`.
[[nodiscard]] std::optional<double> value_of(const results::MeasuredCase& c);
/// ln of the median of the GPU's time in a step, in seconds; absent unless value_of is there and every process knows
/// it.
[[nodiscard]] std::optional<double> device_value_of(const results::MeasuredCase& c);
/// The largest peak of its processes, in the allocator's blocks.
[[nodiscard]] std::optional<std::int64_t> peak_of(const results::MeasuredCase& c);
/// Returns the peak of what tensors asked for, like peak_of; nothing unless every process that knows a peak knows this
/// one.
[[nodiscard]] std::optional<std::int64_t> requested_peak_of(const results::MeasuredCase& c);
/// ln of the times in seconds, of the processes that have one.
[[nodiscard]] std::vector<double> log_times(const results::MeasuredCase& c);

/// Whether a status is a failure or out of memory: a case that was `ok` has regressed if it becomes one of these.
[[nodiscard]] bool is_bad(Status status);

/// ln of a measure of the replicates that have it.
[[nodiscard]] std::vector<double> logarithms(std::span<const results::Replicate> replicates,
                                             const std::function<std::optional<double>(const results::Replicate&)>& of);

/// The time of a replicate in seconds, and the GPU's time in its step; nothing unless both a time and the measure are
/// there.
[[nodiscard]] std::optional<double> time_of(const results::Replicate& replicate);
[[nodiscard]] std::optional<double> device_time_of(const results::Replicate& replicate);

/// The beginning of the reason of a case that was measured, but has no time that can be compared; its status is
/// `unsupported`.
inline constexpr std::string_view kNotComparable = "not comparable";

}  // namespace tbench::compare

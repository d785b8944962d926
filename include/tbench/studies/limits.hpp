// Finds what limits a step, by rules over its record: each with the numbers that it follows from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::studies {

/// One thing that a step waits for or spends its time on.
struct Limit {
  std::string what;                 // host, launches, matrix products, optimizer, ...
  std::string evidence;             // the numbers
  std::string remedy{};             // the change that `at_most` assumes; empty without `at_most`
  std::optional<double> at_most{};  // how many times faster the step could be, if nothing else changed
};

/// The limits of a step with a trace, what the host does first, then by the GPU's time. The rules:
/// - host: the step is host_bound. As a CUDA graph it takes at least the GPU's own time.
/// - launches: the GPU's own gaps between operations that were queued are over 5 % of the step.
/// - matrix products: classes gemm and attention_fused are over 5 % of the GPU's time. At the rate of the measured
///   ceiling their FLOP (`work.least_flop`, otherwise `work.flop`) take less: what that saves, where the GPU is the
///   limit.
/// - every other class over 5 % of the GPU's time: the step without it (Amdahl's bound), where the GPU is the limit.
/// The GPU's time is the sum of its operations here, which is more than their union where streams overlap.
[[nodiscard]] std::vector<Limit> limits_of(const Record& record);

/// @param run  that `records` are of, for the command that traces them
/// @throws     CorrectableError  if no case was traced
void require_trace(std::span<const Record> records, const results::RunFlags& run);

/// A row a limit of every case that was traced.
[[nodiscard]] render::Table limits_table(std::span<const Record> records);

/// Converts the limits to JSON. The verdict: HOST if the host limits a step, otherwise LAUNCHES if the GPU waits
/// between queued operations, otherwise DEVICE.
/// @param run  as require_trace
[[nodiscard]] std::string limits_json(std::span<const Record> records, const results::RunFlags& run);

}  // namespace tbench::studies

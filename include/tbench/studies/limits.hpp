// Finds what limits a step by applying rules to its record. Each limit comes with the numbers from which it follows.
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

/// Returns the limits of a step with a trace and a time: first host and launches, then the classes of operations in
/// descending order of GPU time. Returns none without a trace or a time. The rules:
/// - host: the step is host_bound. As a CUDA graph it would take at least the GPU's own time.
/// - launches: the GPU's own gaps between queued operations are over 5 % of the step.
/// - matrix products: the classes gemm and attention_fused are over 5 % of the GPU's time. If the GPU is the limit,
///   `at_most` assumes that the step's FLOP (model_flop()) run at the measured ceiling.
/// - every other class over 5 % of the GPU's time: if the GPU is the limit, `at_most` assumes a step without the class
///   (Amdahl's bound).
/// The GPU's time is here the sum of its operations' times. It exceeds their union if streams overlap.
[[nodiscard]] std::vector<Limit> limits_of(const Record& record);

/// Checks that at least one case has a trace and a time.
/// @param run  flags of the run that made `records`, for the command that traces them
/// @throws     CorrectableError  if no case was traced
void require_trace(std::span<const Record> records, const results::RunFlags& run);

/// Returns a table with a row per limit of every traced case.
[[nodiscard]] render::Table limits_table(std::span<const Record> records);

/// Converts the limits to JSON. The verdict is HOST if the host limits a step. If it does not, the verdict is LAUNCHES
/// if the GPU waits between queued operations, else DEVICE.
/// @param run  as require_trace
[[nodiscard]] std::string limits_json(std::span<const Record> records, const results::RunFlags& run);

}  // namespace tbench::studies

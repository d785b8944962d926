// The experiments with kernels that src/kernels/experiments.csv lists: one row per change, or configuration, and shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench::results {

struct Experiment {
  std::string date;    // "2026-11-23"
  std::string commit;  // of the sources that were measured
  std::string gpu;     // GPU model, "H100"; empty if nothing was measured
  std::string kernel;  // may be empty: the time of a library
  std::string change;
  std::string shape;
  std::optional<Seconds> before;
  std::optional<Seconds> after;
  std::optional<bool> was_kept;  // absent if the row only states a time
  std::string reason;            // prediction, measurement and cause, in words; may be empty
};

/// Parses a table of experiments: CSV (RFC 4180) with the columns date, commit, gpu, kernel, change, shape, before_us,
/// after_us, kept, reason and source, in this order.
/// @param name  file name for messages
/// @throws      UsageError  naming the file, the line and the problem
[[nodiscard]] std::vector<Experiment> parse_experiments(std::string_view text, const std::string& name);

/// Reads a table of experiments.
/// @throws  UsageError  as parse_experiments(), or if the file cannot be read
[[nodiscard]] std::vector<Experiment> read_experiments(const std::string& path);

}  // namespace tbench::results

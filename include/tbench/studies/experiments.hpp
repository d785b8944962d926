// The table of experiments with kernels (`tbench report --experiments`): each change, its effect, and whether it was
// kept.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tbench/results/experiments.hpp"

namespace tbench::studies {

struct ExperimentOptions {
  std::string filter{};                    // only rows whose `kernel: change` matches; empty for all
  bool markdown{};                         // a Markdown table instead of wrapped text
  std::optional<std::size_t> max_width{};  // columns of the terminal
};

/// Returns the numbers of changes that were kept and rejected, then an entry per kernel, change, day and GPU, the
/// latest first: the time after over the time before (geometric mean and range over the shapes), whether the change was
/// kept, and why. Rows without a time before and after have no ratio.
/// @throws  UsageError  if the filter selects nothing, or is not a regular expression
[[nodiscard]] std::string experiments_text(std::span<const results::Experiment> experiments,
                                           const ExperimentOptions& options);

}  // namespace tbench::studies

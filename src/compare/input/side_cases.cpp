#include "compare/input/side_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tbench/compare/case_values.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {
namespace {

/// Reduces the repeated measurements of one process to one replicate: the median of their times, with the interval that
/// follows from them.
results::Replicate one_process(const results::MeasuredCase& c) {
  results::Replicate process = c.replicates.front();
  const results::Replicate& worst = worst_of(c);
  process.status = worst.status;
  process.reason = worst.reason;
  process.peak_bytes = peak_of(c);
  process.requested_peak_bytes = requested_peak_of(c);
  std::vector<double> times;
  std::vector<double> clocks;
  for (const results::Replicate& repetition : c.replicates) {
    if (repetition.sm_clock) clocks.push_back(repetition.sm_clock->value);
    if (repetition.time) times.push_back(repetition.time->value);
  }
  if (!clocks.empty()) process.sm_clock = Hertz{stats::median(clocks)};
  if (!times.empty()) process.time = Seconds{stats::median(times)};
  if (times.size() > 1) {
    const auto count = static_cast<double>(times.size());
    constexpr double kTail = 0.025;
    process.relative_half_width =
        stats::t_upper_quantile(kTail, count - 1) * stats::standard_deviation(log_times(c)).value() / std::sqrt(count);
  }
  return process;
}

}  // namespace

void add_cases(ComparisonSide& side, std::unordered_map<std::string, std::size_t>& index,
               std::vector<results::MeasuredCase> cases) {
  for (results::MeasuredCase& c : cases) {
    const auto [found, is_new] = index.emplace(c.key, side.cases.size());
    if (is_new) {
      side.cases.push_back(std::move(c));
    } else {
      std::ranges::move(c.replicates, std::back_inserter(side.cases[found->second].replicates));
    }
  }
}

ComparisonSide side_of_cases(const std::string& path, std::vector<results::MeasuredCase> cases) {
  ComparisonSide side;
  side.paths = {path};
  std::unordered_map<std::string, std::size_t> index;
  add_cases(side, index, std::move(cases));
  return side;
}

void join_repetitions(ComparisonSide& side, const std::map<std::string, std::string>& options,
                      const std::string& remedy) {
  const auto processes = options.find("processes");
  if (processes != options.end() && parse_integer(processes->second).value_or(1) > 1) return;
  std::size_t most = 1;
  for (results::MeasuredCase& c : side.cases) {
    if (c.replicates.size() < 2) continue;
    most = std::max(most, c.replicates.size());
    c.replicates = {one_process(c)};
  }
  if (most == 1) return;
  side.warnings.push_back(
      fmt::format("'{}': its {} repetitions share a process and count as one replicate; measure in several processes "
                  "({})",
                  side.paths.front(), most, remedy));
}

}  // namespace tbench::compare

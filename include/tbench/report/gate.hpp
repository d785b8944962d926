// Judging one night: valid, then screened against the nights before, then confirmed by running candidates again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tbench/report/comparison_input.hpp"
#include "tbench/report/history.hpp"
#include "tbench/report/measured_run.hpp"
#include "tbench/report/night.hpp"

namespace tbench::report {

/// Nights that the screen and the ceilings are compared with, and that it takes to do so.
inline constexpr std::size_t kScreenNights = 20;
inline constexpr std::size_t kLeastScreenNights = 8;
/// Nights that change points are looked for in.
inline constexpr std::size_t kTrendNights = 90;

/// Base and new build in turns: each a fresh process, base, new, new, base.
struct ConfirmationBlock {
  std::vector<ComparedRun> base;
  std::vector<ComparedRun> next;
};
inline constexpr std::size_t kConfirmationBlocks = 6;

/// Runs the cases given kConfirmationBlocks times, and nothing else.
using Confirm = std::function<std::vector<ConfirmationBlock>(const std::vector<std::string>& names)>;

struct GateOptions {
  std::optional<double> tau{};       // threshold, 0.02 for 2 %; nothing: by family and length
  std::size_t most_candidates{40};   // confirmed in one night; the others stay unconfirmed
  std::set<std::string> accepted{};  // keys of cases whose level tonight is the new normal, whatever it is
  Confirm confirm_last_good{};       // empty: there is no such build
  Confirm confirm_pinned{};
};

/// Two labels of one build, some cases of it.
struct NullControlSides {
  ComparisonSide a;
  ComparisonSide b;
};

/// @param past     oldest first, all before tonight
/// @param tonight  its cases need at least one replicate each
/// @throws         what the confirmation throws
[[nodiscard]] NightReport judge_night(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                                      const std::optional<NullControlSides>& null_control, const GateOptions& options);

/// Each case's spread of ln(time) between the processes of a night, from the valid ones of `past` in `epoch`, the
/// newest first, at most kScreenNights; of cases for which they tell enough. For CompareOptions::known_spread.
[[nodiscard]] std::map<std::string, double> known_spreads(const std::vector<PastRun>& past, const std::string& epoch);

}  // namespace tbench::report

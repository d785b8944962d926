// Verdicts by known spreads: for cases with one or two processes on a side, and for two machines.
#pragma once

#include "tbench/compare/comparison.hpp"

namespace tbench::compare {

/// The smallest relative change at the power limit that gets a verdict by known spreads. Smaller ones stay UNDECIDED.
inline constexpr double kPowerLimitChange = 0.08;

/// Fills in the intervals of time and device time, and the test that determines the outcome. On one machine, the test
/// uses the time. It uses the device time if the step is host-bound, or if the spread of its time exceeds the
/// threshold. Between machines, it uses the device time if it is known. A case that is `unstable` or `throttled` is
/// tested by its device time only.
void add_known_test(CaseComparison& c, const results::MeasuredCase& base, const results::MeasuredCase& next,
                    const CompareOptions& options, Apart apart);

/// Returns LIKELY_SLOWER, LIKELY_FASTER, HOST, CLOCK, SAME or UNDECIDED. Returns NOT_JUDGED if a side has no time, if a
/// time is `unstable` or `throttled` and no known_test exists, and for a ceiling, which depends on the machine and not
/// on the code.
/// @param adjusted_p  absent without known_test
[[nodiscard]] Outcome known_outcome(const CaseComparison& c, std::optional<double> adjusted_p,
                                    double false_discovery_rate);

}  // namespace tbench::compare

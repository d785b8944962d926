// Cases judged by known spreads: one or two processes on a side, and one machine against another.
#pragma once

#include "tbench/compare/comparison.hpp"

namespace tbench::compare {

/// A change at the power limit that may be said of one process per side; smaller ones stay UNDECIDED.
inline constexpr double kPowerLimitChange = 0.08;

/// Fills in the intervals of time and device time, and the test that the outcome follows from. On one machine the time
/// carries it, or the device time of a step that is host-bound or whose time spreads more than its threshold; between
/// machines the device time where there is one. A case that is `unstable` or `throttled` has its device time alone.
void add_known_test(CaseComparison& c, const results::MeasuredCase& base, const results::MeasuredCase& next,
                    const CompareOptions& options, Apart apart);

/// LIKELY_SLOWER, LIKELY_FASTER, HOST, CLOCK, SAME, UNDECIDED; NOT_JUDGED where a side has no time, or none that may be
/// judged, and of a ceiling, which tells of the machine.
/// @param adjusted_p  absent without known_test
[[nodiscard]] Outcome known_outcome(const CaseComparison& c, std::optional<double> adjusted_p,
                                    double false_discovery_rate);

}  // namespace tbench::compare

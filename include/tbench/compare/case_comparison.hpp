// The comparison of one case: its two sides, the test and the verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tbench/compare/comparison.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {

/// Compares the two sides of a case. Leaves out the minimum detectable effect, the adjusted p and the outcome, which
/// need the correction over all cases: decide() fills them in.
/// @param apart  the kind of pair whose known spreads apply; absent if no spread is known for the sides
[[nodiscard]] CaseComparison measure_change(const results::MeasuredCase& base, const results::MeasuredCase& next,
                                            const CompareOptions& options, std::optional<Apart> apart = std::nullopt);

/// Returns whether the case has a test of its own: both sides are `ok`, come from one machine and have enough
/// replicates.
[[nodiscard]] bool is_tested(const CaseComparison& c);

/// Returns the p value that enters the correction over all cases, from the case's own test or from known_test.
[[nodiscard]] std::optional<double> p_of(const CaseComparison& c);

/// Fills in the minimum detectable effect and the verdict.
/// @param adjusted_p   absent for a case that is not tested
/// @param comparisons  number of cases that are tested
void decide(CaseComparison& c, std::optional<double> adjusted_p, std::size_t comparisons,
            const CompareOptions& options);

/// Returns whether the case makes the comparison fail. Uncertain outcomes do so only with `strict`. NOT_JUDGED does so
/// only if there was something to judge: not for a ceiling, which describes the machine, and not for a case that is
/// `unsupported` or `oom` on both sides.
[[nodiscard]] bool is_failed(const CaseComparison& c, bool strict);

/// Summarises a case of one side over its replicates. Requires at least one replicate.
[[nodiscard]] SideOfCase side_of_case(const results::MeasuredCase& c);

/// Returns the smallest relevant change of a case's time, as a fraction. It depends on the family and on the time.
[[nodiscard]] double default_threshold(const CaseId& id, std::optional<Seconds> time);

/// Returns REGRESSED, IMPROVED or SAME from two peaks in bytes. Peaks repeat exactly, so no test is needed.
[[nodiscard]] Outcome memory_outcome(std::int64_t base, std::int64_t next);

/// Returns whether all clocks of these replicates come from one source. For the same work, clocks from two sources
/// differ by more than most changes do.
[[nodiscard]] bool clocks_are_comparable(std::span<const results::Replicate* const> replicates);

/// Returns whether another measure of a step (clock cycles or the GPU's time) moved in the same direction as its time,
/// and at least half as far. Both are differences of logarithms. Returns true if the measure is unknown. If the GPU's
/// time does not share a change, the host caused the change (HOST).
[[nodiscard]] bool shares_change(double time_difference, std::optional<double> other_difference);

/// Returns whether the side was measured, but has no time that can be compared.
[[nodiscard]] bool is_not_comparable(const SideOfCase& side);

/// Describes the statuses unless both sides are `ok`; empty if they are.
[[nodiscard]] std::string status_note(const SideOfCase& base, const SideOfCase& next);

}  // namespace tbench::compare

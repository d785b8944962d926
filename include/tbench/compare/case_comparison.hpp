// One case of a comparison: sides, test, verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tbench/compare/comparison.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {

/// Everything except the minimum detectable effect, the adjusted p and the outcome, which need the correction over all
/// cases: decide fills them in.
/// @param apart  the sides; absent where nothing is known of their spread
[[nodiscard]] CaseComparison measure_change(const results::MeasuredCase& base, const results::MeasuredCase& next,
                                            const CompareOptions& options, std::optional<Apart> apart = std::nullopt);

/// Whether the case has a test of its own: both sides are `ok`, of one machine, and have enough replicates.
[[nodiscard]] bool is_tested(const CaseComparison& c);

/// The p value that counts in the correction over all cases: the p of the case's own test, or of known_test.
[[nodiscard]] std::optional<double> p_of(const CaseComparison& c);

/// Fills in the minimum detectable effect and the verdict.
/// @param adjusted_p   absent for a case that is not tested
/// @param comparisons  number of cases that are tested
void decide(CaseComparison& c, std::optional<double> adjusted_p, std::size_t comparisons,
            const CompareOptions& options);

/// A case of one side as a whole. Requires at least one replicate.
[[nodiscard]] SideOfCase side_of_case(const results::MeasuredCase& c);

/// The smallest change of a case's time that matters, as a fraction: by family, and by how long the case takes.
[[nodiscard]] double default_threshold(const CaseId& id, std::optional<Seconds> time);

/// REGRESSED, IMPROVED or SAME, from two peaks in bytes. Peaks repeat exactly, so there is no test.
[[nodiscard]] Outcome memory_outcome(std::int64_t base, std::int64_t next);

/// Whether all clocks of these replicates come from one source: clocks of two sources differ for the same work by more
/// than most changes do.
[[nodiscard]] bool clocks_are_comparable(std::span<const results::Replicate* const> replicates);

/// Whether another measure of a step (clock cycles, the GPU's time) moved in the same direction as its time, and at
/// least half as far. Both are differences of logarithms. A measure that is not known does not contradict the time.
/// Where the GPU's time does not share a change, the change is the host's (HOST).
[[nodiscard]] bool shares_change(double time_difference, std::optional<double> other_difference);

/// Whether the side was measured, but has no time that can be compared.
[[nodiscard]] bool is_not_comparable(const SideOfCase& side);

/// Describes the statuses unless both sides are `ok`; empty if they are.
[[nodiscard]] std::string status_note(const SideOfCase& base, const SideOfCase& next);

}  // namespace tbench::compare

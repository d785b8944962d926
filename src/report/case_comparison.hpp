// One case of a comparison: sides, test, verdict. Private to the report layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tbench/core/comparison_statistics.hpp"
#include "tbench/report/comparison.hpp"

namespace tbench::report {

/// A case on its way to a verdict: the correction over all cases comes between measure_change and decide.
struct ChangeOfCase {
  CaseComparison result;  // without verdict, adjusted p and smallest detectable change
  std::optional<ModeratedTest> time_test;
  std::optional<double> cycle_difference;  // of ln(cycles)
  bool is_tested{};                        // counts in the correction: both sides `ok`, enough replicates
};

[[nodiscard]] ChangeOfCase measure_change(const ComparedCase& base, const ComparedCase& next,
                                          const CompareOptions& options);

/// Fills in smallest detectable change and verdict.
/// @param adjusted_p   of the cases that are tested
/// @param comparisons  number of those
void decide(ChangeOfCase& change, std::optional<double> adjusted_p, std::size_t comparisons,
            const CompareOptions& options);

/// A case of one side as a whole. Needs a replicate.
[[nodiscard]] SideOfCase side_of_case(const ComparedCase& c);

/// The least change of a case's time that matters, as a fraction: by family, and by how long it takes.
[[nodiscard]] double default_threshold(const CaseId& id, std::optional<Seconds> time);

/// REGRESSED, IMPROVED or SAME of two peaks in bytes. They repeat exactly: there is no test.
[[nodiscard]] Verdict memory_verdict(std::int64_t base, std::int64_t next);

/// How bad a status is: that of a side is the worst of its replicates'.
[[nodiscard]] int severity(Status status);

/// Whether a status is one that `ok` must not become: a failure, or out of memory.
[[nodiscard]] bool is_bad(Status status);

/// Whether the clock cycles moved as the time did, and at least by half as much. Both are differences of logarithms.
[[nodiscard]] bool cycles_agree(double time_difference, double cycle_difference);

/// What both sides' statuses say, where they are not both `ok`; empty if they are.
[[nodiscard]] std::string status_note(const SideOfCase& base, const SideOfCase& next);

}  // namespace tbench::report

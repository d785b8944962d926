// One case of a comparison: sides, test, verdict. Private to the report layer.
#pragma once

#include <cstddef>
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

/// What both sides' statuses say, where they are not both `ok`; empty if they are.
[[nodiscard]] std::string status_note(const SideOfCase& base, const SideOfCase& next);

}  // namespace tbench::report

// A night's report for people: text for a terminal or a log, Markdown for a job summary.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tbench/report/comparison_page.hpp"
#include "tbench/report/night.hpp"

namespace tbench::report {

/// One line: `REGRESSED: 200 cases: 1 REGRESSED, 199 PASSED`.
[[nodiscard]] std::string night_summary(const NightReport& report);

/// What is said of a case, on one line: `+4.8 % (25.00 -> 26.20 ms), confirmed +4.7 % (+4.2 .. +5.1), since 2026-01-02
/// (abc123), ...`.
[[nodiscard]] std::string case_line(const NightCase& c);

/// What was compared; a row for each case that did not simply pass, the gravest first; since when, and what changed
/// then; driver, machine, null control; missing and stale cases; the summary.
[[nodiscard]] std::string night_page(const NightReport& report, const PageOptions& options);

}  // namespace tbench::report

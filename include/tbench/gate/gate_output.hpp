// A gate's report for people (text for a terminal or a log, Markdown for a job summary) and for programs (JSON for the
// history and for a chat hook, JUnit's XML).
#pragma once

#include <string>

#include "tbench/gate/gate_report.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::gate {

/// One line: `REGRESSED: 200 cases: 1 REGRESSED, 199 PASSED`.
[[nodiscard]] std::string report_summary(const GateReport& report);

/// A case on one line: `+4.8 % (25.00 -> 26.20 ms), confirmed +4.7 % (+4.2 .. +5.1), since 2026-01-02 (abc123), ...`.
[[nodiscard]] std::string case_line(const CaseReport& c);

/// What was compared; a row for each case that did not simply pass, the gravest first; since when, and what changed
/// then; driver, machine, null control; missing and stale cases; the summary.
[[nodiscard]] std::string report_page(const GateReport& report, const render::PageOptions& options);

/// Everything in the report. Quantities are in SI units, changes are ratios (candidate over reference); what is unknown
/// is absent.
[[nodiscard]] results::Json report_to_json(const GateReport& report);

/// The inverse of report_to_json.
/// @throws  std::runtime_error  naming the field that is missing, unknown or of another type
[[nodiscard]] GateReport report_from_json(const results::Json& json);

/// For a hook: `outcome`, `exit_status`, `is_good`, `verdicts` by name, one line of `text`, and report_to_json as
/// `night`.
[[nodiscard]] results::Json report_message(const GateReport& report, bool strict);

/// One test a case: a failure where it regressed (none where the null control failed), or with `strict` is uncertain;
/// skipped where no verdict is possible.
[[nodiscard]] std::string report_to_junit(const GateReport& report, bool strict);

}  // namespace tbench::gate

// Formats of a gate's report: text for a terminal or a log, Markdown for a job summary, JSON for the history and for a
// chat hook, and JUnit's XML.
#pragma once

#include <string>
#include <vector>

#include "tbench/gate/gate_report.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::gate {

/// The inputs of a judgement, from which the suggested commands are made.
struct GateInput {
  std::string db;
  std::vector<std::string> files;   // files of the run
  std::vector<std::string> null_a;  // files of the null control; empty if none were given
  std::vector<std::string> null_b;
  results::RunFlags run;
};

/// Summarises the report in one line: `FAILED: 1 REGRESSED, 199 SAME. Not kept.`, with the findings on the whole run:
/// `FAILED: 43 of 48 expected cases MISSING, 5 NOT_JUDGED; INCOMPLETE: the run was interrupted. Not kept, not a
/// baseline.`
[[nodiscard]] std::string report_summary(const GateReport& report);

/// Describes a case in one line: `+4.8 % (25.00 -> 26.20 ms), confirmed +4.7 % (+4.2 .. +5.1), since 2026-01-02
/// (abc123), ...`.
[[nodiscard]] std::string case_line(const CaseReport& c);

/// Describes a ceiling in one line: `Ceiling/what:copy: +8.00 % against the median of the last runs, 1.0 % allowed`.
[[nodiscard]] std::string ceiling_line(const CeilingCheck& check);

/// Says in how many runs in a row nothing could be gated, and when that makes the gate blind.
[[nodiscard]] std::string blind_line(const GateReport& report);

/// Returns PASSED, REVIEW (exit status 4 with `strict`) or FAILED. GOOD, PINNED and NEW in the command are the folders
/// of the kept builds and of the run's build.
[[nodiscard]] results::Conclusion gate_conclusion(const GateReport& report, const GateInput& input);

/// Describes the measured effect of an injected slowdown: `change +4.91 %, z 18.5, limit 2.0 %`.
[[nodiscard]] std::string heartbeat_line(const CaseReport& planted);

/// Verdicts on a heartbeat other than FOUND: the slowdown was not found, or no verdict is possible.
inline constexpr const char* kBlind = "BLIND";
inline constexpr const char* kUnknown = "UNKNOWN";

/// Concludes whether the gate found an injected slowdown: FOUND, kBlind or kUnknown.
/// @param planted  the case of the report that was slowed down
/// @param share    as --tb_plant has it
[[nodiscard]] results::Conclusion heartbeat_conclusion(const GateReport& report, const CaseReport& planted,
                                                       const std::string& share, const GateInput& input);

/// Renders what was compared, a row for each case that did not simply pass (the gravest first, with its date and what
/// changed then), the driver, the machine, the null control, the missing and stale cases, and the summary.
[[nodiscard]] std::string report_page(const GateReport& report, const render::PageOptions& options);

/// Converts the whole report to JSON. Quantities are in SI units, changes are ratios (candidate over reference);
/// unknown values are left out.
[[nodiscard]] results::Json report_to_json(const GateReport& report);

/// Reads a report that report_to_json wrote.
/// @throws  std::runtime_error  naming the field that is missing, unknown or of another type
[[nodiscard]] GateReport report_from_json(const results::Json& json);

/// Returns the message for a chat hook: the conclusion, `exit_status`, `is_good`, `outcomes` by name, one line of
/// `text`, and report_to_json as `night`.
[[nodiscard]] results::Json report_message(const GateReport& report, bool strict, const GateInput& input);

/// Returns the message for programs: the conclusion of a heartbeat, `case`, `share` and `exit_status`.
[[nodiscard]] results::Json heartbeat_message(const results::Conclusion& conclusion, const std::string& name,
                                              const std::string& share, int status);

/// Returns JUnit XML with one test per case of the run, per expected case, and per Subject. A test fails if its outcome
/// makes the exit status a failure, and is skipped if no verdict is possible.
[[nodiscard]] std::string report_to_junit(const GateReport& report, bool strict);

}  // namespace tbench::gate

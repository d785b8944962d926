// A comparison for people (a table in a terminal, Markdown for a pull request) and for programs (JSON, CSV, JUnit's
// XML).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tbench/compare/comparison.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// E.g. `12 cases: 1 REGRESSED, 11 SAME; 2 only in base`.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// The gravest verdict of any case: REGRESSED (exactly where `exit_status` is 1), INSUFFICIENT or AMBIGUOUS (4 with
/// `strict`), HOST, CLOCK, IMPROVED, SAME, INVALID; CROSS between different devices. BASE and NEW in the command are
/// the folders of the two programs.
[[nodiscard]] results::Conclusion comparison_conclusion(const Comparison& comparison);

struct ConsoleOptions {
  bool colour{};                       // of the outcomes
  bool all{};                          // every case with its whole name, as wide as it takes
  bool is_sorted{};                    // keep the order of the cases
  std::optional<std::size_t> width{};  // of the terminal; absent: kConsoleWidth
};
inline constexpr std::size_t kConsoleWidth = 100;  // columns, at most
inline constexpr std::size_t kMaxShown = 20;       // cases, but for `all`

/// Renders for a terminal: the answer, the sides, the cases by outcome, the gravest cases, what to do next. Two GPU
/// models get the text of models_console().
[[nodiscard]] std::string comparison_console(const Comparison& comparison, const ConsoleOptions& options);

/// Two GPU models: means by family, then ratios of the GPU's time and of the step with intervals, the largest first.
[[nodiscard]] std::string models_console(const Comparison& comparison, const ConsoleOptions& options);

/// Renders for a pull request, in Markdown: both sides, how their environments differ, a row per case, the cases that
/// only one side has, geometric means by family, the summary, the warnings. Columns that no case fills are left out.
[[nodiscard]] std::string comparison_markdown(const Comparison& comparison);

/// The conclusion, and everything of the comparison. Quantities are in SI units, changes are ratios (new over base);
/// what is unknown is absent. `exit_status` is the one of `tbench diff`.
[[nodiscard]] results::Json comparison_to_json(const Comparison& comparison, bool strict);

/// A header, and a row per case (RFC 4180, lines end in a single newline); what is unknown is empty. Cases that one
/// side lacks have their name and `missing` or `new` as the verdict.
[[nodiscard]] std::string comparison_to_csv(const Comparison& comparison);

/// One test a case: a failure where it regressed, or with `strict` is uncertain; skipped where no verdict is possible.
[[nodiscard]] std::string comparison_to_junit(const Comparison& comparison, bool strict);

}  // namespace tbench::compare

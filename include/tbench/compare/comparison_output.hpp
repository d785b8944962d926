// Output of a comparison for people (a terminal table, Markdown for a pull request) and for programs (JSON, CSV, JUnit
// XML).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tbench/compare/comparison.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// Returns a summary such as `12 cases: 1 REGRESSED, 11 SAME; 2 only in base`.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// Returns the most severe outcome of any case (results/outcome.hpp has their order), or CROSS if the sides ran on
/// different devices. The reasons cover every outcome that occurs. In the next command, BASE and NEW stand for the
/// folders of the two builds.
[[nodiscard]] results::Conclusion comparison_conclusion(const Comparison& comparison);

struct ConsoleOptions {
  bool colour{};                       // colour the outcomes
  bool all{};                          // show every case with its full name, at any width
  bool is_sorted{};                    // keep the order of the cases
  std::optional<std::size_t> width{};  // width of the terminal; default: render::kConsoleWidth
};
inline constexpr std::size_t kMaxShown = 20;  // largest number of cases shown without `all`

/// Renders for a terminal: the conclusion, the sides, the cases by outcome, the most severe cases and the next command.
/// For two GPU models it returns the text of models_console().
[[nodiscard]] std::string comparison_console(const Comparison& comparison, const ConsoleOptions& options);

/// Renders a comparison of two GPU models: means by family, then the ratios of GPU time and step time with intervals,
/// the largest first.
[[nodiscard]] std::string models_console(const Comparison& comparison, const ConsoleOptions& options);

/// Renders Markdown for a pull request: both sides, the differences of their environments, a row per case, the cases
/// that only one side has, geometric means by family, the summary and the warnings. Omits columns that are empty for
/// all cases.
[[nodiscard]] std::string comparison_markdown(const Comparison& comparison);

/// Returns the conclusion and all data of the comparison. Quantities are in SI units, changes are ratios (new over
/// base), and unknown values are absent. `exit_status` is the exit status of `tbench diff`.
[[nodiscard]] results::Json comparison_to_json(const Comparison& comparison, bool strict);

/// Returns a header and a row per case (RFC 4180, with single newlines). Unknown values are empty. Cases that one side
/// lacks have only their name and the verdict `missing` or `new`.
[[nodiscard]] std::string comparison_to_csv(const Comparison& comparison);

/// Returns JUnit XML with one test per case: failed if the case regressed (or, with `strict`, is uncertain), skipped if
/// no verdict is possible.
[[nodiscard]] std::string comparison_to_junit(const Comparison& comparison, bool strict);

}  // namespace tbench::compare

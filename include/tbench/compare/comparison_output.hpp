// A comparison for people (a table in a terminal, Markdown for a pull request) and for programs (JSON, CSV, JUnit's
// XML).
#pragma once

#include <string>

#include "tbench/compare/comparison.hpp"
#include "tbench/render/page.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::compare {

/// E.g. `12 cases: 1 REGRESSED, 11 SAME; 2 only in base`.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// The gravest verdict of any case: REGRESSED (exactly where `exit_status` is 1), INSUFFICIENT or AMBIGUOUS (4 with
/// `strict`), HOST, CLOCK, IMPROVED, SAME, INVALID; CROSS between different devices. BASE and NEW in the command are
/// the folders of the two programs.
[[nodiscard]] results::Conclusion comparison_conclusion(const Comparison& comparison);

/// Both sides, how their environments differ, a row a case, what only one side has, geometric means by family, the
/// summary; as Markdown with the warnings too. Columns that no case fills are left out. In a terminal, parameters that
/// all cases of a family share stand above the table and not in it.
[[nodiscard]] std::string comparison_page(const Comparison& comparison, const render::PageOptions& options);

/// The conclusion, and everything of the comparison. Quantities are in SI units, changes are ratios (new over base);
/// what is unknown is absent. `exit_status` is that of `tbench diff`.
[[nodiscard]] results::Json comparison_to_json(const Comparison& comparison, bool strict);

/// A header, and a row a case (RFC 4180, lines end in a single newline); what is unknown is empty. Cases that one side
/// lacks have their name and `missing` or `new` as the verdict.
[[nodiscard]] std::string comparison_to_csv(const Comparison& comparison);

/// One test a case: a failure where it regressed, or with `strict` is uncertain; skipped where no verdict is possible.
[[nodiscard]] std::string comparison_to_junit(const Comparison& comparison, bool strict);

}  // namespace tbench::compare

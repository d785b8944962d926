// A comparison for programs: JSON, CSV, and JUnit's XML.
#pragma once

#include <string>

#include "tbench/report/comparison.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// Everything of the comparison. Quantities are in SI units, changes are ratios (new over base); what is unknown is
/// absent. `exit_status` is that of `tbench diff`.
[[nodiscard]] Json comparison_to_json(const Comparison& comparison, bool strict);

/// A header, and a row a case (RFC 4180, lines end in a single newline); what is unknown is empty. Cases that one side
/// lacks have their name and `missing` or `new` as the verdict.
[[nodiscard]] std::string comparison_to_csv(const Comparison& comparison);

/// One test a case: a failure where it regressed, or with `strict` is uncertain; skipped where nothing can be said.
[[nodiscard]] std::string comparison_to_junit(const Comparison& comparison, bool strict);

}  // namespace tbench::report

// A night's report for programs: JSON, for the history and for a chat hook, and JUnit's XML.
#pragma once

#include <string>

#include "tbench/report/night.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// Everything. Quantities are in SI units, changes are ratios (tonight over before); what is unknown is absent.
[[nodiscard]] Json night_to_json(const NightReport& report);

/// The inverse of night_to_json.
/// @throws  std::runtime_error  naming the field that is missing, unknown or of another type
[[nodiscard]] NightReport night_from_json(const Json& json);

/// For a hook: `outcome`, `exit_status`, `is_good`, `verdicts` by name, one line of `text`, and night_to_json as
/// `night`.
[[nodiscard]] Json night_message(const NightReport& report, bool strict);

/// One test a case: a failure where it regressed (none where the null control failed), or with `strict` is uncertain;
/// skipped where nothing can be said.
[[nodiscard]] std::string night_to_junit(const NightReport& report, bool strict);

}  // namespace tbench::report

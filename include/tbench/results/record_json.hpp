// Lossless conversion of records and environments to JSON and back. The layout of a whole file is in result_json.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"

namespace tbench::results {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// Converts a whole record to JSON. Quantities are in SI units, and their keys end in the unit (`median_s`, `power_w`,
/// `split_bytes`). Unknown values are absent, never null, 0 or NaN.
/// @throws  std::invalid_argument  naming the field, for a number that is not finite, a parameter given twice, or a
///                                 timing that is present although the status has no time, or the other way round
[[nodiscard]] Json record_to_json(const Record& record);

/// Converts JSON to a record, the inverse of record_to_json(): `record_from_json(record_to_json(r)) == r`.
/// @param where  name of the value in error messages, e.g. `benchmarks[3].tbench`
/// @throws       std::runtime_error  naming the field that is missing, unknown, of the wrong type or out of its range
/// @throws       RuleError           for a record that contradicts itself: see contradiction_of() in record_rules.hpp
[[nodiscard]] Record record_from_json(const Json& json, const std::string& where);

/// Converts an environment to JSON.
/// @throws  std::invalid_argument  naming the field, for a number that is not finite
[[nodiscard]] Json environment_to_json(const Environment& environment);

/// Converts JSON to an environment, the inverse of environment_to_json().
/// @throws  std::runtime_error  under the conditions of record_from_json()
[[nodiscard]] Environment environment_from_json(const Json& json, const std::string& where);

}  // namespace tbench::results

// Google Benchmark's own JSON, read leniently: what is not needed may be missing. Private to the report layer.
#pragma once

#include <optional>
#include <string>

#include "tbench/report/comparison_input.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// `name` without the parts that Google Benchmark appends to say how it measured.
[[nodiscard]] std::string plain_case_name(const std::string& name);

/// @return  nothing for an aggregate of other entries
/// @throws  std::runtime_error  naming `where`, for an entry without a name, or without an error and a time above 0
[[nodiscard]] std::optional<Observation> plain_observation(const Json& entry, const std::string& where);

}  // namespace tbench::report

// The options that decide how a case is measured, as a run used them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench::compare {

/// The value of an option that was not given.
inline constexpr std::string_view kUnsaid = "default";

/// Returns the settings of the measurement by name: min_time_s, min_warmup_time_s, samples, warmup, verify, isolate,
/// memory_limit and, for steps, trace. Files of before an option existed do not have it, either.
/// @param options  of a results file
[[nodiscard]] std::map<std::string, std::string> measuring_way(const std::map<std::string, std::string>& options,
                                                               Regime regime);

}  // namespace tbench::compare

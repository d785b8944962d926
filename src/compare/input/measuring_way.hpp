// The options of a run that determine how a case is measured.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"

namespace tbench::compare {

/// The value of an option that was not given.
inline constexpr std::string_view kUnsaid = "default";

/// Returns the settings of the measurement by name: min_time_s, min_warmup_time_s, samples, warmup, verify, isolate,
/// memory_limit and, for steps, trace. An option that the file does not have, because it was not given or did not exist
/// yet, has the value kUnsaid.
/// @param options  the options of a results file
[[nodiscard]] std::map<std::string, std::string> measuring_way(const std::map<std::string, std::string>& options,
                                                               Regime regime);

}  // namespace tbench::compare

// The answer to a name that is no study: the study or the chapter that it probably means.
#pragma once

#include <string_view>

#include "tbench/core/error.hpp"

namespace tbench::studies {

/// Returns the error for a name that neither a study nor a built-in write-up has. It names the study of the subject,
/// the chapter of a write-up with its studies, the nearest study, or some of the studies.
/// @param flag  the flag that gave the name
[[nodiscard]] UsageError unknown_study(std::string_view name, std::string_view flag);

}  // namespace tbench::studies

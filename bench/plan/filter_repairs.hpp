// Filters in a notation that is not an extended regular expression over case names.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tbench::bench {

/// Returns what is wrong with the notation of a filter, and the filter in the right notation: quotation marks, a
/// shell's pattern, `key=value`, commas or spaces between parts, a slash or an anchor where names have none. Returns
/// nullopt if no rewritten filter matches.
/// @param filter   an expression that matches nothing
/// @param matches  whether a filter matches any case; false for what is not an expression
[[nodiscard]] std::optional<std::string> explain_notation(
    const std::string& filter, const std::function<bool(const std::string& filter)>& matches);

}  // namespace tbench::bench

// Filters whose parts are all right, but not in the order of case names.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/plan/filter_parts.hpp"
#include "bench/plan/filter_words.hpp"

namespace tbench::bench {

/// Returns how the parts of a filter have to follow each other in the case names of a family, or nullopt if they
/// already do. Suggests the filter in that order if it then matches.
/// @param found    parts that the family has
/// @param matches  whether a filter matches any case
[[nodiscard]] std::optional<std::string> explain_order(const FilterParts& found, const FamilyWords& family,
                                                       const std::function<bool(const std::string& filter)>& matches);

}  // namespace tbench::bench

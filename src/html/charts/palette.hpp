// The assignment of the pages' colours to implementations. assets/page.css has the colours.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "tbench/core/case_id.hpp"

namespace tbench::html {

/// `--slot-0` to `--slot-9` of page.css.
inline constexpr std::size_t kColourSlots = 10;

/// Returns the implementation of a case: its `impl`, otherwise its `method`; null if it has neither.
[[nodiscard]] const std::string* implementation_of(const CaseId& id);

/// Returns a slot per implementation. The implementations of this suite have the same slot on every page, and two that
/// a family has both have different ones. Any other gets one by its name, and a free one while there are any.
[[nodiscard]] std::map<std::string, std::size_t> colour_slots(const std::set<std::string>& implementations);

}  // namespace tbench::html

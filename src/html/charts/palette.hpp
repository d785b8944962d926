// The assignment of the pages' colours to implementations. assets/page.css has the colours.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "tbench/core/case_id.hpp"

namespace tbench::html {

/// The number of colours in page.css: `--slot-0` to `--slot-9`.
inline constexpr std::size_t kColourSlots = 10;

/// Returns the implementation of a case: its `impl` if it has one, else its `method`; null if it has neither.
[[nodiscard]] const std::string* implementation_of(const CaseId& id);

/// Returns the CSS of a slot's colour: `var(--slot-1)`.
[[nodiscard]] std::string slot_colour(std::size_t slot);

/// Returns a slot per implementation. The project's implementations have the same slot on every page, and different
/// slots within a family. The slot of any other implementation follows from its name; a taken slot is replaced by the
/// next free one, as long as there is one.
[[nodiscard]] std::map<std::string, std::size_t> colour_slots(const std::set<std::string>& implementations);

}  // namespace tbench::html

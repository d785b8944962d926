// How ranges lie in one another, in which one a call was made, and what ranges come to: on the host, and of the
// operations that were launched in them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// Of each range the innermost one of its thread that holds it, and of each call the innermost one of its thread that
/// holds it: this is nsys's rule. kNone: none does. Of two equal ranges the first in the trace holds the other.
struct RangeTree {
  std::vector<Index> parent_of_range;
  std::vector<Index> range_of_call;
};

[[nodiscard]] RangeTree range_tree(const Trace& trace);

/// Whether a label is this name in any case of letters: `FORWARD`, `forward`.
[[nodiscard]] bool is_label(std::string_view label, std::string_view name);

struct RangeRows {
  std::vector<RangeTime> rows;      // a row before those inside of it, else as they first begin
  std::vector<Index> row_of_range;  // of each range of the trace
};

/// One row for the ranges of a label in the same outer ranges.
/// @param launched_by  launching_calls(trace)
[[nodiscard]] RangeRows range_rows(const Trace& trace, const RangeTree& tree, std::span<const Index> launched_by);

}  // namespace tbench::profile

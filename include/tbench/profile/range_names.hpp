// Compares the names of ranges, and renames the ranges of foreign traces to the names by which phases and parts of
// attention are recognised.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// The old and the new name of ranges. One `*` in the old name stands for any text, and a `*` in the new name repeats
/// that text: `h.*.attn` and `layer.*`.
struct RangeRename {
  std::string from;
  std::string to;
};

/// Parses a rename.
/// @param text  `FROM=TO`, divided at the last `=`
/// @throws      UsageError  naming the text, the problem and the remedy, if it has no `=`, an empty side, or too many
///                          `*`
[[nodiscard]] RangeRename parse_range_rename(const std::string& text);

/// Renames each range by the first rename whose `from` matches its name. The names of kernels and calls stay unchanged.
/// @throws  UsageError  for a rename that matches no range of the trace
void rename_ranges(Trace& trace, std::span<const RangeRename> renames);

/// Returns whether a label equals the name, ignoring upper and lower case: `FORWARD`, `forward`.
[[nodiscard]] bool is_label(std::string_view label, std::string_view name);

}  // namespace tbench::profile

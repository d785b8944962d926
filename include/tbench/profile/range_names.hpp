// Other people's names of ranges as the names that phases and parts of attention go by.
#pragma once

#include <span>
#include <string>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// A name of ranges, and the one that they get. One `*` in it stands for any text, which a `*` of the new name repeats:
/// `h.*.attn` and `layer.*`.
struct RangeRename {
  std::string from;
  std::string to;
};

/// @param text  `FROM=TO`; the last `=` counts
/// @throws      UsageError  naming the text, the problem and the remedy: it has no `=`, an empty side, or a `*` too
/// many
[[nodiscard]] RangeRename parse_range_rename(const std::string& text);

/// Each range gets the name of the first one that is its own. Names of kernels and calls stay.
/// @throws  UsageError  for one that no range of the trace is named like
void rename_ranges(Trace& trace, std::span<const RangeRename> renames);

}  // namespace tbench::profile

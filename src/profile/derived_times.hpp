// What follows from the times of ranges and of the kernels in them: rows of the studies that no range has by itself.
#pragma once

#include <vector>

#include "tbench/profile/profile.hpp"

namespace tbench::profile {

/// For each range FORWARD and BACKWARD, in any case of letters, or for the outermost ranges where there is none of
/// them: projections, residual, not attention; each only where the ranges are there that it is made of.
[[nodiscard]] std::vector<DerivedRange> derived_ranges(const std::vector<RangeTime>& ranges);

/// By phase; only those that have operations in such ranges.
[[nodiscard]] std::vector<AttentionTime> attention_times(const Profile& profile);

}  // namespace tbench::profile

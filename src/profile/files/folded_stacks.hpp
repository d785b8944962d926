// A profile as flame graphs take it: https://github.com/brendangregg/FlameGraph.
#pragma once

#include <string>

#include "tbench/profile/profile.hpp"

namespace tbench::profile {

/// A line for each kernel of a range, `RANGE;...;RANGE;CLASS;KERNEL NANOSECONDS`: the labels of the ranges around its
/// launch, the outermost first, or `(no range)`; kernels without template arguments; the sum of their times on the GPU.
/// Semicolons in names become commas.
[[nodiscard]] std::string folded_stacks(const Profile& profile);

}  // namespace tbench::profile

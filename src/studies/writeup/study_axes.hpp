// The values of axes that a user gives to the studies of a list.
#pragma once

#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::studies {

/// Returns the axes that the study has.
[[nodiscard]] std::vector<AxisOverride> axes_of(const Study& study, const std::vector<AxisOverride>& axes);

/// Refuses axes that none of the studies has.
/// @throws  UsageError  for such an axis, with the nearest one
void refuse_unknown_axes(const Writeup& writeup, const std::vector<AxisOverride>& axes);

}  // namespace tbench::studies

// The ranges of a few steps of a case as its record keeps them: of one step.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tbench/core/step_trace.hpp"
#include "tbench/profile/profile.hpp"

namespace tbench::profile {

/// Fills `ranges`, `parts` and `attention` of a step.
/// @param profile  of cut_steps
/// @param steps    how many those are
/// @param phases   of the case: what the phases FORWARD, BACKWARD, ... of the profile are called in records
void add_ranges(StepTrace& step, const Profile& profile, std::int64_t steps, std::span<const std::string_view> phases);

}  // namespace tbench::profile

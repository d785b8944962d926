// Records of files from before schema version 9, made what later ones are where they say enough for it.
#pragma once

#include <cstdint>

#include "tbench/results/result_json.hpp"

namespace tbench::results {

/// The first version whose records have Record::boost_peak and a clock that is never scaled.
inline constexpr std::int64_t kVersionOfBoostPeaks = 9;

/// Adds the optimizer of train steps, and the datasheet's rate at its own clock to each record that has one at another
/// clock, and forgets the latter where it was made of more cycles than the GPU can count: until version 8 counted
/// cycles were scaled to the median step, which a few long steps make far too many.
/// @param file  whose environment tells the GPU; rates need one
void complete_old_records(ResultFile& file);

}  // namespace tbench::results

// Completes records of files from before schema version 9, as far as they have the data.
#pragma once

#include <cstdint>

#include "tbench/results/result_json.hpp"

namespace tbench::results {

/// The first schema version whose records have Record::boost_peak, and a counted clock that is never scaled.
inline constexpr std::int64_t kVersionOfBoostPeaks = 9;

/// Adds Work::optimizer to records of train steps, and Record::boost_peak to records with Record::peak_at_clock.
/// Removes Record::peak_at_clock if it was computed from more cycles than the GPU can count. Until version 8, counted
/// cycles were scaled to the median step; a few long steps made the result far too large.
/// @param file  results whose environment names the GPU; without a GPU, only optimizers are added
void complete_old_records(ResultFile& file);

}  // namespace tbench::results

// Finds the points at which a series of values changes its level, as a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbench::stats {

struct ChangePointOptions {
  std::size_t min_segment{4};  // least number of values in a level; at least 2
  double min_magnitude{0.02};  // least change of the level, in the values' unit
  double max_p{0.001};         // largest p value of a change
  std::uint64_t seed{1};       // seed of the permutations
};

struct ChangePoint {
  std::size_t index{};  // index of the first value of the new level
  double magnitude{};   // median of the new level minus the median of the previous level
};

/// Finds the changes of level by the method E-divisive, and returns them in the order of the series. The split of a
/// segment with the largest energy statistic is kept if permutations of the segment reach this statistic with p <=
/// max_p. Both parts are then split in the same way. Changes smaller than min_magnitude are then removed, the smallest
/// first, so that a slow drift is reported as a few larger steps. Costs O(n^2) for each permutation; series without a
/// change need few.
/// @throws  std::invalid_argument  if min_segment is below 2
/// @see     Matteson and James, A nonparametric approach for multiple change point analysis, JASA 109 (2014)
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                                          const ChangePointOptions& options);

}  // namespace tbench::stats

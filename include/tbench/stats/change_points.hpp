// Finds the points at which a series of values changes its level, as a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbench::stats {

struct ChangePointOptions {
  std::size_t min_segment{4};  // values of one level; at least 2
  double min_magnitude{0.02};  // of a change, in the values' unit
  double max_p{0.001};         // of a change
  std::uint64_t seed{1};       // of the permutations
};

struct ChangePoint {
  std::size_t index{};  // of the first value of the new level
  double magnitude{};   // median of the new level less that of the one before
};

/// Changes of level, in the order of the series: E-divisive (the best division of a segment into two by the energy
/// statistic, kept if permutations of the segment reach as high a statistic with p <= max_p, and so on in both
/// parts). Changes smaller than min_magnitude are then taken back, the smallest first, so that a slow drift leaves
/// the few steps that add up to one.
/// Costs O(n^2) for each permutation; series without a change need few.
/// @throws  std::invalid_argument  for a least segment below 2
/// @see     Matteson and James, A nonparametric approach for multiple change point analysis, JASA 109 (2014)
[[nodiscard]] std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                                          const ChangePointOptions& options);

}  // namespace tbench::stats

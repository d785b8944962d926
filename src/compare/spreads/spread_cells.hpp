// Pairs of samples that measured the same code, by class and cell.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/compare/known_spreads.hpp"

namespace tbench::compare {

/// One case, measured in one way: by several processes on one GPU, or on several GPUs of the same model.
struct SpreadCell {
  std::string key;                  // match_key of the case
  std::vector<double> differences;  // |difference of ln(time)| of each pair
  double freedom{};                 // degrees of freedom: number of processes, or of GPUs, minus one
};

/// Returns the cells with at least one pair, by class and kind of pair. The cells of a case follow each other.
[[nodiscard]] std::map<KnownSpreads::ClassKey, std::vector<SpreadCell>> spread_cells(
    std::span<const SpreadSample> samples);

/// Returns the largest of the limits that the 50, 90 and 95 % quantiles of the cells' differences give. All cells have
/// equal weight. A quantile is scaled to 95 % by Student's t with kSpreadFreedom degrees of freedom, so that two
/// measurements, one per side, exceed the limit in 5 % of comparisons.
/// @param cells  at least one
[[nodiscard]] double spread_limit(std::span<const SpreadCell> cells);

/// Returns whether the cells of one case spread too much for the limit of their class, at the significance level
/// stats::kPriorLevel.
[[nodiscard]] bool rejects(std::span<const SpreadCell> cells, const KnownDispersion& of_class);

}  // namespace tbench::compare

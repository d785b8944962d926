// Pairs of samples that measured the same code, by class and cell.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tbench/compare/known_spreads.hpp"

namespace tbench::compare {

/// One case, measured in one way: by several processes on one GPU, or on several GPUs of one model.
struct SpreadCell {
  std::string key;                  // match_key of the case
  std::vector<double> differences;  // |difference of ln(time)| of each pair
  double freedom{};                 // processes, or GPUs, less one
};

/// Cells with at least one pair, by class and kind of pair. The cells of a case follow each other.
[[nodiscard]] std::map<KnownSpreads::ClassKey, std::vector<SpreadCell>> spread_cells(
    std::span<const SpreadSample> samples);

/// The largest limit that the 50, 90 or 95 % quantile of the cells' differences gives, each cell weighing as much as
/// any other; of Student's t with kSpreadFreedom, so that 1+1 measurements exceed it in 5 % of comparisons.
/// @param cells  at least one
[[nodiscard]] double spread_limit(std::span<const SpreadCell> cells);

/// Whether cells of one case spread too much for the limit of their class, at stats::kPriorLevel.
[[nodiscard]] bool rejects(std::span<const SpreadCell> cells, const KnownDispersion& of_class);

}  // namespace tbench::compare

// Computes known spreads from results of processes that measured the same code.
#pragma once

#include <string>
#include <vector>

#include "tbench/compare/known_spreads.hpp"
#include "tbench/compare/sides.hpp"

namespace tbench::compare {

/// Collects results file by file. Pairs of processes are of one case, GPU (UUID), build (digest of the sources),
/// versions of the libraries and way of measuring; pairs of machines are of two GPUs of one model, and of one build or
/// of the libraries' own kernels (stock).
class SpreadCollector {
 public:
  SpreadCollector() = default;
  /// Continues a collection that was written with its samples.
  explicit SpreadCollector(std::vector<SpreadSample> samples) : samples_{std::move(samples)} {}

  /// Adds the cases of a file.
  /// @param file  side of a single file; merged sides do not distinguish their runs
  /// @return  number of cases added: the cases on a GPU that are `ok` and have a class
  /// @throws  UsageError  naming the file, if all of its cases were added before
  std::size_t add(const ComparisonSide& file);

  /// Returns the spreads of all that was added. A class's limit is the largest that the 50, 90 or 95 % quantile of its
  /// pairs gives, each cell weighing as much as any other, but at least kMinLimit. A class of fewer than kMinPairs or
  /// kMinCells borrows from its neighbour, and is left out where that has too few as well. A case whose processes
  /// spread too much for its class, at 1 %, has a spread of its own.
  [[nodiscard]] KnownSpreads spreads() const;

  [[nodiscard]] const std::vector<SpreadSample>& samples() const { return samples_; }

 private:
  std::vector<SpreadSample> samples_;
};

/// The least limit of a class.
inline constexpr double kMinLimit = 0.005;

/// Factor by which a borrowed limit exceeds the neighbour's limit.
inline constexpr double kBorrowedFactor = 1.5;

/// Renders the classes as a table: limit, pairs and cells, by kind of pair.
[[nodiscard]] std::string spreads_table(const KnownSpreads& spreads);

}  // namespace tbench::compare

// Computes known spreads from results of processes that measured the same code.
#pragma once

#include <string>
#include <vector>

#include "tbench/compare/known_spreads.hpp"
#include "tbench/compare/sides.hpp"

namespace tbench::compare {

/// Collects results file by file, and pairs measurements of the same code. Both measurements of a pair have the same
/// case, library versions and settings of the measurement. In a pair of processes, they also have the same GPU (UUID)
/// and build (digest of the sources). In a pair of machines, they come from two GPUs of the same model, and have the
/// same build or only kernels of the libraries (stock).
class SpreadCollector {
 public:
  SpreadCollector() = default;
  /// Continues a collection whose file has its samples.
  explicit SpreadCollector(std::vector<SpreadSample> samples) : samples_{std::move(samples)} {}

  /// Adds the cases of a file.
  /// @param file  side of a single file; merged sides do not distinguish their runs
  /// @return      number of samples added: one for each replicate on a GPU that is `ok` and has a class
  /// @throws      UsageError  if all samples of the file were added before; the message names the file
  std::size_t add(const ComparisonSide& file);

  /// Returns the spreads of all samples. The limit of a class is the largest of the limits that the 50, 90 and 95 %
  /// quantiles of its pairs give, but at least kMinLimit. All cells have equal weight. A class with fewer than
  /// kMinPairs pairs or kMinCells cells borrows a neighbour's limit, and is left out if its neighbours have too few as
  /// well. A case has a spread of its own if it spreads significantly more than its class (significance level 1 %).
  [[nodiscard]] KnownSpreads spreads() const;

  [[nodiscard]] const std::vector<SpreadSample>& samples() const { return samples_; }

 private:
  std::vector<SpreadSample> samples_;
};

/// The minimum limit of a class, as a difference of ln(time).
inline constexpr double kMinLimit = 0.005;

/// Factor by which a borrowed limit exceeds the neighbour's limit.
inline constexpr double kBorrowedFactor = 1.5;

/// Renders the classes as a table: limit, pairs and cells, by kind of pair.
[[nodiscard]] std::string spreads_table(const KnownSpreads& spreads);

}  // namespace tbench::compare

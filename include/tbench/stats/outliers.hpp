// A search for outliers among values that should be alike, such as the rates of several GPUs of the same model, as a
// pure function.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/tests.hpp"

namespace tbench::stats {

/// The deviation of a value from the other values that are not outliers.
struct Deviation {
  double difference{};  // value minus the mean of the others
  double score{};       // difference divided by its standard error, as in moderated_t_test()
  bool is_outlier{};
};

struct OutlierSearch {
  std::vector<Deviation> deviations;  // in the order of the values
  double standard_deviation{};        // of the values without outliers, moderated by the prior
  double degrees_of_freedom{};        // of the standard deviation, including the prior's
  bool prior_rejected{};              // whether the values spread too much for the prior, which is then ignored
  double detectable{};                // a deviation of this size, on one side, is found nine times in ten
};

/// Finds outliers. Removes the value farthest from the mean of the other values, then the next, and so on. Removes
/// fewer than half of the values, and at most a quarter of them or three, whichever is more. A moderated t test
/// compares each removed value with the values left. The outliers are all values removed up to the last one that the
/// test rejects, so that two outliers do not hide each other. The first test has four fifths of `level`, the other
/// tests share the rest, and each level is divided by the number of values left (Bonferroni). In simulations with
/// normal values (tests/fleet) the false alarms on one side are at most as frequent as `level`.
/// @param values  values in any order; normal except for outliers
/// @param level   probability of a false alarm above the other values, and also of one below; above 0, below 1
/// @param known   dispersion of such values in earlier data; without it, few values find little
/// @return        the search's result, or nullopt for fewer than three values
/// @throws        std::invalid_argument  if `level` is outside its range
/// @see           Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25 (1983)
[[nodiscard]] std::optional<OutlierSearch> find_outliers(std::span<const double> values, double level,
                                                         std::optional<DispersionPrior> known = std::nullopt);

}  // namespace tbench::stats

// Which of several values that should be alike are not, as a pure function: a GPU among others of its model, for
// instance.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tbench/stats/tests.hpp"

namespace tbench::stats {

/// One value against the others that are no outliers.
struct Deviation {
  double difference{};  // from their mean
  double score{};       // difference over its standard error, as moderated_t_test has it
  bool is_outlier{};
};

struct OutlierSearch {
  std::vector<Deviation> deviations;  // in the order of the values
  double standard_deviation{};        // of the values that are no outliers, moderated by what is known
  double degrees_of_freedom{};        // of it, those of what is known included
  bool prior_rejected{};              // the values differ by more than what is known allows: it does not count
  double detectable{};                // a value that is off by so much, on one side, is found nine times in ten
};

/// Takes away the value farthest from the others' mean, then the next one, and so on, at most half of them. The
/// outliers are all those taken away up to the last one that a moderated t test against the values left then rejects:
/// two outliers do not hide each other. The first test has four fifths of `level` and the others share the rest, each
/// divided by the number of values (Bonferroni). Simulated with normal values (tests/fleet): alarms on one side come
/// at most as often as `level`.
/// @param values  no order; normal but for outliers
/// @param level   the probability that values without outliers have one above the others; and the same for below.
///                Above 0, below 1
/// @param known   how much such values differ, from earlier ones. Without it few values find little
/// @return        nothing for fewer than three values
/// @throws        std::invalid_argument  for another level
/// @see           Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25 (1983)
[[nodiscard]] std::optional<OutlierSearch> find_outliers(std::span<const double> values, double level,
                                                         std::optional<DispersionPrior> known = std::nullopt);

}  // namespace tbench::stats

#include "tbench/stats/change_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <stdexcept>

#include "tbench/stats/descriptive.hpp"

namespace tbench::stats {
namespace {

using Values = std::vector<double>;

struct Split {
  std::size_t at{};  // size of the left part
  double energy{};
};

double pairs_of(double count) { return count * (count - 1) / 2; }

/// Sums of |x - y| over the pairs inside the left part, inside the right part, and between the parts.
struct Distances {
  double left{};
  double right{};
  double between{};
};

/// Returns the energy statistic, n m / (n + m) (2 mean between - mean left - mean right).
double energy_of(const Distances& sums, std::size_t left_size, std::size_t right_size) {
  const auto n = static_cast<double>(left_size);
  const auto m = static_cast<double>(right_size);
  return n * m / (n + m) * (2 * sums.between / (n * m) - sums.left / pairs_of(n) - sums.right / pairs_of(m));
}

double distance(const Values& values, std::size_t from, std::size_t to, double x) {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += std::abs(values[i] - x);
  return sum;
}

/// Finds the split with the largest energy whose two parts have at least `least` values each. Returns nullopt if there
/// are too few values.
std::optional<Split> best_split(const Values& values, std::size_t least) {
  const std::size_t count = values.size();
  if (count < 2 * least) return std::nullopt;
  Distances sums;
  for (std::size_t i = 0; i < count; ++i) sums.right += distance(values, i + 1, count, values[i]);
  std::optional<Split> best;
  for (std::size_t at = 1; at <= count - least; ++at) {
    const std::size_t moved = at - 1;  // index of the value that moves to the left part
    const double to_left = distance(values, 0, moved, values[moved]);
    const double to_right = distance(values, at, count, values[moved]);
    sums.left += to_left;
    sums.right -= to_right;
    sums.between += to_right - to_left;
    if (at < least) continue;
    const double energy = energy_of(sums, at, count - at);
    if (!best || energy > best->energy) best = Split{.at = at, .energy = energy};
  }
  return best;
}

/// Returns whether permutations reach the energy with p <= max_p. Stops as soon as too many have reached it.
bool is_significant(Values values, double energy, const ChangePointOptions& options, std::mt19937_64& random) {
  // Enough permutations for the smallest possible p to be max_p: the p that results if no permutation reaches the
  // energy.
  const auto permutations = static_cast<std::size_t>(std::ceil(1 / options.max_p)) - 1;
  const double allowed = options.max_p * static_cast<double>(permutations + 1) + 1e-9 - 1;
  double reached = 0;
  for (std::size_t i = 0; i < permutations; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    if (best_split(values, options.min_segment)->energy < energy) continue;
    if (++reached > allowed) return false;
  }
  return true;
}

void divide(std::span<const double> values, std::size_t offset, const ChangePointOptions& options,
            std::mt19937_64& random, std::vector<std::size_t>& found) {
  const Values segment(values.begin(), values.end());
  const std::optional<Split> split = best_split(segment, options.min_segment);
  if (!split || !is_significant(segment, split->energy, options, random)) return;
  divide(values.first(split->at), offset, options, random, found);
  found.push_back(offset + split->at);
  divide(values.subspan(split->at), offset + split->at, options, random, found);
}

/// Returns the changes between the segments that `indexes` divide the series into.
std::vector<ChangePoint> changes_of(std::span<const double> values, const std::vector<std::size_t>& indexes) {
  std::vector<ChangePoint> changes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const std::size_t middle = indexes[i];
    const std::size_t end = i + 1 < indexes.size() ? indexes[i + 1] : values.size();
    changes.push_back(
        {.index = middle,
         .magnitude = median(values.subspan(middle, end - middle)) - median(values.subspan(begin, middle - begin))});
    begin = middle;
  }
  return changes;
}

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointOptions& options) {
  if (options.min_segment < 2) {
    throw std::invalid_argument{fmt::format("segments of {} values: a level needs two", options.min_segment)};
  }
  std::mt19937_64 random{options.seed};
  std::vector<std::size_t> indexes;
  divide(values, 0, options, random, indexes);
  while (true) {
    std::vector<ChangePoint> changes = changes_of(values, indexes);
    const auto weakest =
        std::ranges::min_element(changes, {}, [](const ChangePoint& c) { return std::abs(c.magnitude); });
    if (weakest == changes.end() || std::abs(weakest->magnitude) >= options.min_magnitude) return changes;
    indexes.erase(indexes.begin() + (weakest - changes.begin()));
  }
}

}  // namespace tbench::stats

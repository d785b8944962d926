#include "compare/spreads/spread_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace tbench::compare {
namespace {

using ClassKey = KnownSpreads::ClassKey;
using Samples = std::vector<const SpreadSample*>;

/// The key of a cell: case, GPU model, settings of the measurement and, for pairs of processes, UUID and build.
using CellKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;

struct OpenCell {
  std::vector<double> differences;
  std::set<std::string> uuids;
  std::set<const SpreadSample*> samples;
};
using OpenCells = std::map<ClassKey, std::map<CellKey, OpenCell>>;

/// Returns the kind of pair that two samples with the same case, GPU model and way of measuring form, or nullopt if
/// their code may differ.
std::optional<Apart> apart_of(const SpreadSample& a, const SpreadSample& b) {
  if (a.uuid == b.uuid) return a.build == b.build ? std::optional{Apart::kProcesses} : std::nullopt;
  const bool is_same_code = a.build == b.build || (a.is_stock && b.is_stock);
  return is_same_code ? std::optional{Apart::kMachines} : std::nullopt;
}

CellKey cell_of(const SpreadSample& a, Apart apart) {
  if (apart == Apart::kMachines) return {a.key, a.gpu, a.way, "", ""};
  return {a.key, a.gpu, a.way, a.uuid, a.build};
}

void add_pair(OpenCells& cells, const SpreadSample& a, const SpreadSample& b) {
  const std::optional<Apart> apart = apart_of(a, b);
  if (!apart) return;
  const SpreadFacts facts = of_both(a.facts, b.facts);
  const auto add = [&](std::optional<SpreadClass> of, Seconds x, Seconds y) {
    if (!of) return;
    OpenCell& cell = cells[{*of, *apart}][cell_of(a, *apart)];
    cell.differences.push_back(std::abs(std::log(x / y)));
    for (const SpreadSample* sample : {&a, &b}) {
      cell.uuids.insert(sample->uuid);
      cell.samples.insert(sample);
    }
  };
  add(class_of_time(facts), a.facts.time, b.facts.time);
  // At the power limit, time and device time have the same class. The time then stands for both.
  const std::optional<SpreadClass> of_device = class_of_device_time(facts);
  if (a.device_time && b.device_time && of_device != SpreadClass::kPowerLimit) {
    add(of_device, *a.device_time, *b.device_time);
  }
}

/// Returns the value that a share `q` of the weight does not exceed.
/// @param sorted  pairs of value and weight, by value
double weighted_quantile(std::span<const std::pair<double, double>> sorted, double q) {
  double total = 0;
  for (const auto& [value, weight] : sorted) total += weight;
  double sum = 0;
  for (const auto& [value, weight] : sorted) {
    sum += weight;
    if (sum >= q * total) return value;
  }
  return sorted.back().first;
}

}  // namespace

std::map<ClassKey, std::vector<SpreadCell>> spread_cells(std::span<const SpreadSample> samples) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Samples> alike;
  for (const SpreadSample& sample : samples) alike[{sample.key, sample.gpu, sample.way}].push_back(&sample);
  OpenCells open;
  for (const auto& [key, group] : alike) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) add_pair(open, *group[i], *group[j]);
    }
  }
  std::map<ClassKey, std::vector<SpreadCell>> cells;
  for (auto& [key, of_class] : open) {
    for (auto& [cell_key, cell] : of_class) {
      const std::size_t count = key.second == Apart::kMachines ? cell.uuids.size() : cell.samples.size();
      cells[key].push_back({.key = std::get<0>(cell_key),
                            .differences = std::move(cell.differences),
                            .freedom = static_cast<double>(count - 1)});
    }
  }
  return cells;
}

double spread_limit(std::span<const SpreadCell> cells) {
  std::vector<std::pair<double, double>> weighted;
  for (const SpreadCell& cell : cells) {
    for (const double difference : cell.differences) {
      weighted.emplace_back(difference, 1 / static_cast<double>(cell.differences.size()));
    }
  }
  std::ranges::sort(weighted);
  static constexpr std::array kShares{0.5, 0.9, 0.95};
  static const double kAtLimit = stats::t_upper_quantile((1 - kShares.back()) / 2, kSpreadFreedom);
  double limit = 0;
  for (const double share : kShares) {
    const double t = stats::t_upper_quantile((1 - share) / 2, kSpreadFreedom);
    limit = std::max(limit, weighted_quantile(weighted, share) * kAtLimit / t);
  }
  return limit;
}

bool rejects(std::span<const SpreadCell> cells, const KnownDispersion& of_class) {
  stats::PooledVariance measured;
  for (const SpreadCell& cell : cells) {
    double squares = 0;  // half the mean square of all pairs is the variance of the values
    for (const double difference : cell.differences) squares += difference * difference;
    measured.variance += cell.freedom * squares / (2 * static_cast<double>(cell.differences.size()));
    measured.degrees_of_freedom += cell.freedom;
  }
  measured.variance /= measured.degrees_of_freedom;
  return stats::rejects_prior(of_class.prior(), measured);
}

}  // namespace tbench::compare

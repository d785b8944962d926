#include "compare/input/plain_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compare/input/plain_name.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::compare {
namespace {

using Kind = PlainRow::Kind;
using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kStatistics{"mean", "median", "stddev", "cv"};

/// Decides which of the rows without a `run_type` are aggregates. `NAME_median` is an aggregate if the file has NAME,
/// or both NAME_mean and NAME_stddev.
void settle(std::vector<PlainRow>& rows) {
  const auto is_untold = [](const PlainRow& row) { return row.kind == Kind::kUntold; };
  if (std::ranges::none_of(rows, is_untold)) return;
  std::unordered_set<std::string> names;
  for (const PlainRow& row : rows) names.insert(row.name);
  const auto is_benchmark = [&](const std::string& name) {
    return names.contains(name) || (names.contains(name + "_mean") && names.contains(name + "_stddev"));
  };
  for (PlainRow& row : rows) {
    if (!is_untold(row)) continue;
    row.kind = Kind::kMeasurement;
    for (const std::string_view statistic : kStatistics) {
      if (!row.name.ends_with(fmt::format("_{}", statistic))) continue;
      std::string name = row.name.substr(0, row.name.size() - statistic.size() - 1);
      if (name.empty() || !is_benchmark(name)) continue;
      row.kind = Kind::kAggregate;
      row.statistic = statistic;
      row.name = std::move(name);
      break;
    }
  }
}

/// One benchmark of a program.
struct Benchmark {
  std::string name;
  std::optional<std::pair<std::int64_t, std::int64_t>> instance;
  std::set<std::int64_t> repetitions{};  // numbers of its repetitions, if the file has them
  std::size_t last_row{};                // index of its last measurement's row
  std::vector<results::Replicate> measured{};
  std::map<std::string, PlainRow> aggregates{};  // by statistic
};

class Benchmarks {
 public:
  void add(PlainRow row, std::size_t index) {
    Benchmark& benchmark = benchmark_of(row, index);
    if (row.kind == Kind::kAggregate) {
      benchmark.aggregates.emplace(row.statistic, std::move(row));
      return;
    }
    if (row.repetition) benchmark.repetitions.insert(*row.repetition);
    benchmark.last_row = index;
    benchmark.measured.push_back(std::move(row.replicate));
  }

  [[nodiscard]] std::deque<Benchmark>& all() { return all_; }

 private:
  Benchmark& benchmark_of(const PlainRow& row, std::size_t index) {
    std::vector<Benchmark*>& same = by_name_[row.name];
    for (auto benchmark = same.rbegin(); benchmark != same.rend(); ++benchmark) {
      if (belongs(row, index, **benchmark)) return **benchmark;
    }
    same.push_back(&all_.emplace_back(Benchmark{.name = row.name, .instance = row.instance}));
    return *same.back();
  }

  static bool belongs(const PlainRow& row, std::size_t index, const Benchmark& benchmark) {
    if (row.instance != benchmark.instance) return false;
    if (row.kind == Kind::kAggregate || benchmark.measured.empty()) return true;
    if (row.repetition) return !benchmark.repetitions.contains(*row.repetition);
    return row.instance || index == benchmark.last_row + 1;
  }

  std::deque<Benchmark> all_;  // stays in place while it grows
  std::unordered_map<std::string, std::vector<Benchmark*>> by_name_;
};

/// Returns the half width of the mean's 95 % interval, relative to the centre, from the standard deviation. Returns
/// nullopt for a single repetition.
std::optional<double> half_width_of(const Benchmark& benchmark, const PlainRow& centre) {
  const auto deviation = benchmark.aggregates.find("stddev");
  if (deviation == benchmark.aggregates.end() || !deviation->second.replicate.time || centre.repetitions < 2) {
    return std::nullopt;
  }
  constexpr double kTail = 0.025;
  const auto count = static_cast<double>(centre.repetitions);
  return stats::t_upper_quantile(kTail, count - 1) * (*deviation->second.replicate.time / *centre.replicate.time) /
         std::sqrt(count);
}

/// Returns the median if the aggregates have it, else the mean. Returns nullopt if they have neither.
std::optional<results::Replicate> replicate_of(const Benchmark& benchmark) {
  for (const char* const statistic : {"median", "mean"}) {
    const auto found = benchmark.aggregates.find(statistic);
    if (found == benchmark.aggregates.end()) continue;
    results::Replicate replicate = found->second.replicate;
    if (replicate.time) replicate.relative_half_width = half_width_of(benchmark, found->second);
    return replicate;
  }
  return std::nullopt;
}

/// Counts the cases for a warning, which names only the first.
struct Told {
  std::size_t count{};
  std::string first;

  void add(const std::string& name) {
    if (count++ == 0) first = name;
  }
};

void warn(Texts& warnings, const Told& told, const char* one, const char* several) {
  if (told.count == 0) return;
  warnings.push_back(told.count == 1 ? fmt::format("{} {}", told.first, one)
                                     : fmt::format("{} and {} more {}", told.first, told.count - 1, several));
}

/// Adds a warning about the cases that cannot be compared.
void warn_of_odd(PlainCases& found) {
  Told odd;
  for (const results::MeasuredCase& c : found.cases) {
    const auto row = std::ranges::find_if(c.replicates, [](const results::Replicate& replicate) {
      return replicate.status == Status::kUnsupported && replicate.reason.starts_with(kNotComparable);
    });
    if (row != c.replicates.end()) odd.add(fmt::format("{}: {}", c.id.name(), row->reason));
  }
  if (odd.count == 0) return;
  std::string others;
  if (odd.count > 1) others = fmt::format("; so {} {} more", agreeing(odd.count - 1, "is", "are"), odd.count - 1);
  found.warnings.push_back(odd.first + others);
}

}  // namespace

bool PlainRows::are_aggregates() const {
  return std::ranges::all_of(rows_, [](const PlainRow& row) { return row.kind == Kind::kAggregate; });
}

PlainCases PlainRows::cases() && {
  settle(rows_);
  Benchmarks benchmarks;
  for (std::size_t i = 0; i < rows_.size(); ++i) benchmarks.add(std::move(rows_[i]), i);
  PlainCases found;
  Told aggregated;
  Told again;
  std::unordered_map<std::string, std::size_t> counts;
  for (Benchmark& benchmark : benchmarks.all()) {
    if (benchmark.measured.empty()) {
      std::optional<results::Replicate> replicate = replicate_of(benchmark);
      if (!replicate) continue;
      aggregated.add(benchmark.name);
      benchmark.measured.push_back(*std::move(replicate));
    }
    const std::size_t nth = ++counts[benchmark.name];
    if (nth == 2) again.add(benchmark.name);
    std::string name = nth_name(benchmark.name, nth);
    found.cases.push_back({.id = CaseId{name, {}}, .key = name, .replicates = std::move(benchmark.measured)});
  }
  warn_of_odd(found);
  warn(found.warnings, aggregated,
       "has aggregates of its repetitions alone: their median or mean is one replicate; measure without "
       "--benchmark_report_aggregates_only",
       "have aggregates of their repetitions alone: the median or mean is one replicate; measure without "
       "--benchmark_report_aggregates_only");
  warn(found.warnings, again, "is the name of several benchmarks: they are compared in the order of the file",
       "are names of several benchmarks each: these are compared in the order of the file");
  return found;
}

}  // namespace tbench::compare

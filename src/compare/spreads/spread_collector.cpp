#include "tbench/compare/spread_collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "compare/input/measuring_way.hpp"
#include "compare/spreads/spread_cells.hpp"
#include "tbench/core/error.hpp"

namespace tbench::compare {
namespace {

/// Implementations with this project's own kernels, which change with its builds.
constexpr std::array<std::string_view, 2> kOwnImplementations{"fused", "flash"};
/// Families in which every implementation but the project's own comes from the libraries.
constexpr std::array<std::string_view, 4> kStockFamilies{"Attention", "Gemm", "Kernel", "Model"};

bool is_stock(const CaseId& id) {
  const std::string* const implementation = id.find("impl");
  return implementation != nullptr && std::ranges::find(kStockFamilies, id.family()) != kStockFamilies.end() &&
         std::ranges::find(kOwnImplementations, *implementation) == kOwnImplementations.end();
}

std::string way_of(const ComparisonSide& file, const results::Replicate& replicate) {
  std::string way;
  for (const auto& [name, value] : measuring_way(file.options.front(), *replicate.regime)) {
    way += fmt::format("{}={} ", name, value);
  }
  if (replicate.l2) way += fmt::format("l2={} ", to_string(*replicate.l2));
  static constexpr std::array kLibraries{"cublas", "cudnn", "driver", "libtorch"};
  const auto& versions = file.environments.front().versions;
  for (const char* const library : kLibraries) {
    const auto found = versions.find(library);
    if (found != versions.end()) way += fmt::format("{}={} ", library, found->second);
  }
  way.pop_back();
  return way;
}

std::vector<SpreadSample> samples_of(const ComparisonSide& file) {
  std::vector<SpreadSample> samples;
  if (file.environments.empty() || !file.environments.front().gpu) return samples;
  const Environment& environment = file.environments.front();
  if (environment.machines.size() > 1) return samples;  // a case of the side does not name its machine
  for (const results::MeasuredCase& c : file.cases) {
    for (const results::Replicate& replicate : c.replicates) {
      if (!replicate.time || !replicate.regime || replicate.status != Status::kOk) continue;
      const SpreadFacts facts = spread_facts(c.id, replicate);
      if (!class_of_time(facts) && !class_of_device_time(facts)) continue;
      samples.push_back({.key = c.key,
                         .gpu = environment.gpu->name,
                         .uuid = environment.gpu->uuid,
                         .build = build_key(environment),
                         .way = way_of(file, replicate),
                         .is_stock = is_stock(c.id),
                         .facts = facts,
                         .device_time = replicate.device_time});
    }
  }
  return samples;
}

using ClassKey = KnownSpreads::ClassKey;

/// Rounds a limit up to the last digit in the file, a hundredth of a percent.
double rounded(double limit) {
  constexpr double kDigits = 1e4;
  constexpr double kSlack = 1e-9;  // products of decimals are not exact
  return std::ceil(limit * kDigits - kSlack) / kDigits;
}

std::int64_t pairs_in(std::span<const SpreadCell> cells) {
  std::size_t pairs = 0;
  for (const SpreadCell& cell : cells) pairs += cell.differences.size();
  return static_cast<std::int64_t>(pairs);
}

KnownDispersion measured(std::span<const SpreadCell> cells, double at_least) {
  return {.limit = rounded(std::max(at_least, spread_limit(cells))),
          .pairs = pairs_in(cells),
          .cells = static_cast<std::int64_t>(cells.size()),
          .borrowed = {}};
}

/// Returns the classes to borrow from, the nearest first: another class with the same kind of pairs, then the same
/// class with the other kind. A graph's time is the GPU's own time, so that its nearest classes are device times.
std::vector<ClassKey> neighbours(const ClassKey& key) {
  using enum SpreadClass;
  static const std::map<SpreadClass, SpreadClass> kNearest{
      {kKernel, kShortKernel},     {kShortKernel, kKernel},    {kGraph, kDevice},
      {kPowerLimit, kStep},        {kStep, kPowerLimit},       {kHostBoundStep, kHostBoundStep},
      {kHostBoundDevice, kDevice}, {kDevice, kHostBoundDevice}};
  const auto& [of, apart] = key;
  const Apart other = apart == Apart::kProcesses ? Apart::kMachines : Apart::kProcesses;
  if (of == kGraph) return {{kDevice, apart}, {kDevice, other}, {kGraph, other}};
  return {{kNearest.at(of), apart}, {of, other}};
}

void borrow(KnownSpreads& known) {
  const std::map<ClassKey, KnownDispersion> own = known.classes;
  for (const SpreadClass of : kAllOf<SpreadClass>) {
    for (const Apart apart : kAllOf<Apart>) {
      const ClassKey key{of, apart};
      if (own.contains(key)) continue;
      for (const ClassKey& neighbour : neighbours(key)) {
        const auto found = own.find(neighbour);
        if (found == own.end()) continue;
        known.classes[key] = {
            .limit = rounded(kBorrowedFactor * found->second.limit),
            .pairs = found->second.pairs,
            .cells = found->second.cells,
            .borrowed = fmt::format("{} of {}", to_string(neighbour.first), to_string(neighbour.second))};
        break;
      }
    }
  }
}

/// Adds the cases that spread too much for their class.
void add_cases_apart(KnownSpreads& known, const ClassKey& key, std::span<const SpreadCell> cells) {
  const auto of_class = known.classes.find(key);
  if (of_class == known.classes.end()) return;
  for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    while (end < cells.size() && cells[end].key == cells[begin].key) ++end;
    const std::span<const SpreadCell> of_case = cells.subspan(begin, end - begin);
    if (!rejects(of_case, of_class->second)) continue;
    known.cases.emplace(KnownSpreads::CaseKey{of_case.front().key, key.first, key.second},
                        measured(of_case, of_class->second.limit));
  }
}

}  // namespace

std::size_t SpreadCollector::add(const ComparisonSide& file) {
  std::vector<SpreadSample> samples = samples_of(file);
  const auto is_known = [&](const SpreadSample& sample) {
    return std::ranges::find(samples_, sample) != samples_.end();
  };
  if (!samples.empty() && std::ranges::all_of(samples, is_known)) {
    throw UsageError{fmt::format("'{}': all of its cases were added before ({}). Give each file once.",
                                 file.paths.front(), samples.size())};
  }
  std::ranges::move(samples, std::back_inserter(samples_));
  return samples.size();
}

KnownSpreads SpreadCollector::spreads() const {
  KnownSpreads known;
  std::set<std::string> gpus;
  for (const SpreadSample& sample : samples_) gpus.insert(sample.gpu);
  known.gpus.assign(gpus.begin(), gpus.end());
  const auto cells = spread_cells(samples_);
  for (const auto& [key, of_class] : cells) {
    const bool is_known = pairs_in(of_class) >= kMinPairs && of_class.size() >= kMinCells;
    if (is_known) known.classes.emplace(key, measured(of_class, kMinLimit));
  }
  borrow(known);
  for (const auto& [key, of_class] : cells) add_cases_apart(known, key, of_class);
  return known;
}

}  // namespace tbench::compare

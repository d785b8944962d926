#include "studies/side_by_side/headline_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/gpu_name.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

/// A GPU model with all selected records of its files.
struct Collected {
  HeadlineGpu gpu;
  std::vector<std::pair<std::string, HeadlineBuild>> builds{};   // with their keys
  std::vector<std::pair<const Record*, std::size_t>> records{};  // with the indexes of their builds
};

/// Returns the index of a file's build. The runs of the build then include this file.
std::size_t add_build(Collected& collected, const Environment& environment) {
  const std::string key = build_name(environment) + "\n" + build_key(environment);
  const std::string& date = environment.date;
  auto found = std::ranges::find(collected.builds, key, [](const auto& build) { return build.first; });
  if (found == collected.builds.end()) {
    found =
        collected.builds.insert(found, {key, {.name = build_name(environment), .first_run = date, .last_run = date}});
  }
  HeadlineBuild& build = found->second;
  build.first_run = std::min(build.first_run, date);
  build.last_run = std::max(build.last_run, date);
  return static_cast<std::size_t>(found - collected.builds.begin());
}

Collected& collected_for(std::vector<Collected>& all, const GpuFacts& facts) {
  const auto found = std::ranges::find_if(all, [&](const Collected& c) { return c.gpu.facts->name == facts.name; });
  if (found != all.end()) return *found;
  return all.emplace_back(Collected{.gpu = {.name = render::short_gpu_name(facts.name), .facts = &facts}});
}

/// Returns the indexes of the builds, the oldest build first.
std::vector<std::size_t> by_age(const Collected& collected) {
  std::vector<std::size_t> order(collected.builds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t build) {
    const HeadlineBuild& one = collected.builds[build].second;
    return std::pair{one.last_run, one.first_run};
  });
  return order;
}

/// Returns the GPU model with the records whose build is the newest of their case.
HeadlineGpu with_newest_records(Collected collected) {
  const std::vector<std::size_t> order = by_age(collected);
  std::vector<std::size_t> ages(order.size());
  for (std::size_t age = 0; age < order.size(); ++age) ages[order[age]] = age;
  std::map<std::string, std::size_t> newest;  // ages of builds, by case
  for (const auto& [record, build] : collected.records) {
    std::size_t& kept = newest.try_emplace(record->id.name(), ages[build]).first->second;
    kept = std::max(kept, ages[build]);
  }
  std::set<std::size_t> used;
  for (const auto& [name, age] : newest) used.insert(age);
  HeadlineGpu gpu = std::move(collected.gpu);
  std::vector<std::size_t> places(order.size());  // in HeadlineGpu::builds, by age
  for (std::size_t age = 0; age < order.size(); ++age) {
    places[age] = gpu.builds.size();
    (used.contains(age) ? gpu.builds : gpu.older_builds).push_back(collected.builds[order[age]].second);
  }
  for (const auto& [record, build] : collected.records) {
    if (newest.at(record->id.name()) != ages[build]) {
      ++gpu.older_records;
      continue;
    }
    gpu.records.push_back(record);
    gpu.build_of.emplace(record, places[ages[build]]);
  }
  return gpu;
}

/// Gives GPU models with the same short name their whole names.
void name_apart(std::vector<HeadlineGpu>& gpus) {
  std::map<std::string, std::size_t> counts;
  for (const HeadlineGpu& gpu : gpus) ++counts[gpu.name];
  for (HeadlineGpu& gpu : gpus) {
    if (counts[gpu.name] > 1) gpu.name = gpu.facts->name;
  }
}

void set_price(std::vector<HeadlineGpu>& gpus, const GpuPrice& price) {
  Texts names;
  std::vector<HeadlineGpu*> found;
  for (HeadlineGpu& gpu : gpus) {
    names.push_back(gpu.name);
    if (gpu.name == price.gpu || gpu.facts->name == price.gpu) found.push_back(&gpu);
  }
  if (found.size() != 1) {
    throw UsageError{fmt::format("--price: '{}' is {} of the files; give one of: {}", price.gpu,
                                 found.empty() ? "no GPU" : "several GPUs", join(names, ", "))};
  }
  if (found.front()->price_per_hour) {
    throw UsageError{fmt::format("--price: {} has two prices; give one", found.front()->name)};
  }
  found.front()->price_per_hour = price.per_hour;
}

/// Returns ` of 2026-11-25 to 2026-11-27` for the starts of two runs; empty without dates.
std::string days_text(const std::string& first_run, const std::string& last_run) {
  constexpr std::size_t kDay = 10;  // letters of `2026-11-27`
  const std::string first = first_run.substr(0, kDay);
  const std::string last = last_run.substr(0, kDay);
  if (first.empty()) return "";
  return first == last ? " of " + first : fmt::format(" of {} to {}", first, last);
}

}  // namespace

std::string builds_text(std::span<const HeadlineBuild> builds) {
  constexpr std::size_t kMax = 3;
  if (builds.size() > kMax) {
    const auto& first = std::ranges::min(builds, {}, &HeadlineBuild::first_run).first_run;
    const auto& last = std::ranges::max(builds, {}, &HeadlineBuild::last_run).last_run;
    return fmt::format("{} builds{}", builds.size(), days_text(first, last));
  }
  Texts texts;
  for (const HeadlineBuild& build : builds) texts.push_back(build.name + days_text(build.first_run, build.last_run));
  return join(texts, ", ");
}

std::vector<HeadlineGpu> headline_gpus(std::span<const results::NamedResults> results, const HeadlineOptions& options) {
  const CaseFilter selects{options.filter, "--filter"};
  std::vector<Collected> all;
  bool has_records = false;
  for (const results::NamedResults& result : results) {
    const Environment& environment = result.file.environment;
    if (!environment.gpu) {
      throw UsageError{fmt::format("--headline: '{}' was measured on a CPU; give results of GPUs", result.label)};
    }
    Collected& collected = collected_for(all, *environment.gpu);
    ++collected.gpu.files;
    const std::size_t build = add_build(collected, environment);
    for (const Record& record : result.file.records) {
      if (selects(record.id.name())) collected.records.emplace_back(&record, build);
    }
    has_records = has_records || !collected.records.empty();
  }
  if (!has_records) throw UsageError{fmt::format("--filter={}: selects no case of the files", options.filter)};
  std::vector<HeadlineGpu> gpus;
  for (Collected& collected : all) gpus.push_back(with_newest_records(std::move(collected)));
  name_apart(gpus);
  for (const GpuPrice& price : options.prices) set_price(gpus, price);
  return gpus;
}

std::vector<HeadlineBuild> builds_of(const HeadlineGpu& gpu, std::span<const Record* const> records) {
  std::set<std::size_t> used;
  for (const Record* const record : records) used.insert(gpu.build_of.at(record));
  std::vector<HeadlineBuild> builds;
  for (const std::size_t build : used) builds.push_back(gpu.builds[build]);
  return builds;
}

}  // namespace tbench::studies

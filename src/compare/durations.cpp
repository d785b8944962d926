#include "tbench/compare/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "tbench/core/error.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;
using results::ResultFile;

bool has_option(const ResultFile& file, const std::string& name, const std::string& value) {
  const auto found = file.options.find(name);
  return found != file.options.end() && (value.empty() || found->second == value);
}

void check(const NamedResults& results) {
  const ResultFile& file = results.file;
  const auto refuse = [&results](const std::string& problem, const char* remedy) {
    throw UsageError{fmt::format("'{}': {}. {}", results.label, problem, remedy)};
  };
  if (!file.environment.gpu) refuse("its cases ran on the CPU", "Give results of a GPU.");
  if (has_option(file, "suite", "smoke")) {
    refuse("the smoke suite samples for a shorter time", "Give results of another suite.");
  }
  if (has_option(file, "memory_limit", "")) {
    refuse(fmt::format("it was measured with --tb_memory_limit={}", file.options.at("memory_limit")),
           "Give results of a run without it.");
  }
}

}  // namespace

Seconds cost_of(const Record& record) {
  if (record.host_times) return record.harness + record.host_times->sampling;
  if (!record.timing) return record.harness;
  const Timing& timing = *record.timing;
  const double sampled = std::accumulate(timing.samples_s.begin(), timing.samples_s.end(), 0.0) *
                         static_cast<double>(timing.launches_per_sample) / timing.duty.value_or(1.0);
  return record.harness + timing.median * static_cast<double>(timing.warm_up.steps) + Seconds{sampled};
}

void DurationCollector::add(const NamedResults& results) {
  check(results);
  const auto& [label, file] = results;
  const GpuFacts& gpu = *file.environment.gpu;
  if (files_ == 0) {
    first_file_ = label;
    gpu_ = gpu.name;
    memory_bytes_ = gpu.memory_bytes;
  }
  if (gpu.name != gpu_) {
    throw UsageError{
        fmt::format("'{}' is of an {} and '{}' of an {}: a table is of one GPU model. Give the files of each apart.",
                    first_file_, gpu_, label, gpu.name)};
  }
  ++files_;
  memory_bytes_ = std::min(memory_bytes_, gpu.memory_bytes);
  builds_.insert(fmt::format("{:.12}", file.environment.sources_digest));
  for (const Record& record : file.records) {
    runs_[record.id.name()].push_back({.time = cost_of(record),
                                       .status = record.status,
                                       .build = file.environment.sources_digest,
                                       .date = file.environment.date});
  }
}

std::vector<DurationCollector::Run> DurationCollector::runs_of_latest_build(std::vector<Run> runs) {
  const std::string build = std::ranges::max(runs, {}, &Run::date).build;
  std::erase_if(runs, [&](const Run& run) { return run.build != build; });
  return runs;
}

std::string DurationCollector::csv(const std::set<std::string>& only) const {
  std::string rows;
  for (const auto& [name, all_runs] : runs_) {
    if (!only.empty() && !only.contains(name)) continue;
    const std::vector<Run> runs = runs_of_latest_build(all_runs);
    const bool is_ok = std::ranges::any_of(runs, [](const Run& run) { return run.status == Status::kOk; });
    const Status status = is_ok ? Status::kOk : std::ranges::max(runs, {}, &Run::status).status;
    if (is_failure(status)) continue;
    std::vector<double> seconds;
    for (const Run& run : runs) {
      if (has_time(run.status) == has_time(status)) seconds.push_back(run.time.value);
    }
    rows += fmt::format("{},{:.3f},{}\n", name, stats::median(seconds), to_string(status));
  }
  if (rows.empty()) {
    throw UsageError{
        fmt::format("none of the {} cases of the files has a duration to keep. Give files with cases that ran{}.",
                    runs_.size(), only.empty() ? "" : ", or other names with --cases")};
  }
  return fmt::format("# format: 1\n# gpu: {}\n# memory_bytes: {}\n# builds: {}\n# files: {}\ncase,seconds,status\n{}",
                     gpu_, memory_bytes_, fmt::join(builds_, ", "), files_, rows);
}

}  // namespace tbench::compare

#include "tbench/report/comparison_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "benchmark_entries.hpp"
#include "plain_benchmark.hpp"
#include "result_parsing.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/result_json.hpp"
#include "tbench/report/result_writer.hpp"

namespace tbench::report {
namespace {

constexpr const char* kChangedRemedy =
    "the file was changed after it was written, or by another program: measure again";

/// Entries of one kind, and the first thing that was wrong with them.
struct Kind {
  std::vector<Observation> observations;
  std::exception_ptr first_error;

  template <class Read>
  void add(Read read) {
    try {
      if (auto observation = read()) observations.push_back(*std::move(observation));
    } catch (const std::exception&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
};

/// The entries as they come. Only the context, which may come later, tells whether the file is one of ours.
struct Entries {
  Kind ours;
  Kind plain;
  std::size_t count{};

  void add(const Json& entry) {
    const std::string where = fmt::format("benchmarks[{}]", count++);
    if (!entry.contains("tbench")) return plain.add([&] { return plain_observation(entry, where); });
    ours.add([&]() -> std::optional<Observation> {
      const std::optional<Record> record = record_of_entry(entry, where);
      return record ? std::optional{observation_of(*record)} : std::nullopt;
    });
  }
};

void check_schema(const std::string& path, const Json& context) {
  const Json& run = context.at("tbench");
  if (!run.is_object() || !run.contains("schema_version")) return;
  if (const auto problem = unreadable_version(run.at("schema_version"))) {
    throw NotComparable{fmt::format("'{}': {}; use the program of the build that wrote it", path, *problem)};
  }
}

void warn_of_shared_process(ComparedRun& run, const std::map<std::string, std::string>& options) {
  const auto processes = options.find("processes");
  if (processes != options.end() && parse_integer(processes->second).value_or(1) > 1) return;
  std::set<std::string> keys;
  for (const Observation& observation : run.observations) {
    if (keys.insert(match_key(observation.id)).second) continue;
    run.warnings.push_back(
        fmt::format("'{}': repetitions share a process, and differ less than processes do: too many changes will look "
                    "certain; measure in several processes, a file each",
                    run.path));
    return;
  }
}

ComparedRun plain_run(const std::string& path, Entries entries) {
  if (entries.plain.first_error) std::rethrow_exception(entries.plain.first_error);
  if (entries.plain.observations.empty()) {
    throw std::runtime_error{
        "no measured entries, only aggregates or none at all (--benchmark_report_aggregates_only?)"};
  }
  ComparedRun run;
  run.path = path;
  run.observations = std::move(entries.plain.observations);
  run.warnings.push_back(fmt::format(
      "'{}': plain Google Benchmark JSON: device, clocks, memory, work and verification are unknown", path));
  warn_of_shared_process(run, {});
  return run;
}

/// @param header  the file, with or without its records
ComparedRun run_of(const std::string& path, const ResultFile& header, std::vector<Observation> observations) {
  ComparedRun run;
  run.path = path;
  run.environment = header.environment;
  run.observations = std::move(observations);
  if (header.interrupted) run.warnings.push_back(fmt::format("'{}': the run was interrupted", path));
  warn_of_shared_process(run, header.options);
  return run;
}

/// @param rest  the file without its entries
ComparedRun our_run(const std::string& path, const Json& rest, Entries entries) {
  const ResultFile header = result_file_from_json(rest);
  if (entries.ours.first_error) std::rethrow_exception(entries.ours.first_error);
  if (!entries.plain.observations.empty() || entries.plain.first_error) {
    throw std::runtime_error{"benchmarks: there is an entry that has no record and is no aggregate of others"};
  }
  return run_of(path, header, std::move(entries.ours.observations));
}

/// A killed run leaves its last records in the journal: they are results like the others.
ComparedRun run_with_journal(const std::string& path) {
  ComparedRun run = compared_run(path, load_for_resume(path).value());
  run.warnings.push_back(fmt::format("'{}': the run was killed; its journal was read too", path));
  return run;
}

}  // namespace

std::string match_key(const CaseId& id) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  std::ranges::sort(parameters);
  return CaseId{id.family(), std::move(parameters)}.name();
}

Observation observation_of(const Record& record) {
  Observation observation;
  observation.id = record.id;
  Replicate& replicate = observation.replicate;
  replicate.status = record.status;
  replicate.reason = record.reason;
  if (record.memory) replicate.peak_bytes = record.memory->allocated_peak;
  if (record.work) replicate.work = record.work->flop;
  if (record.device) replicate.sm_clock = record.device->sm_clock_p50;
  if (!record.timing) return observation;
  if (!(record.timing->median.value > 0)) {
    throw std::runtime_error{
        fmt::format("{}: a median of {} s cannot be compared", record.id.name(), record.timing->median.value)};
  }
  replicate.time = record.timing->median;
  replicate.regime = record.timing->regime;
  replicate.l2 = record.timing->l2;
  replicate.relative_half_width = record.timing->relative_half_width;
  const std::map<std::string, double> counters = counters_of(record);
  if (const auto mfu = counters.find("mfu"); mfu != counters.end()) replicate.ceiling_share = mfu->second;
  return observation;
}

ComparedRun compared_run(const std::string& path, const ResultFile& file) {
  std::vector<Observation> observations;
  for (const Record& record : file.records) observations.push_back(observation_of(record));
  return run_of(path, file, std::move(observations));
}

ComparedRun read_compared_run(const std::string& path) {
  const std::string text = read_text(path);
  try {
    Entries entries;
    const Json rest = parse_entries(path, text, [&](const Json& entry) { entries.add(entry); });
    const Json& context = rest.at("context");
    if (!context.contains("tbench")) return plain_run(path, std::move(entries));
    check_schema(path, context);
    if (std::filesystem::exists(path + ".journal")) return run_with_journal(path);
    return our_run(path, rest, std::move(entries));
  } catch (const UsageError&) {
    throw;
  } catch (const NotComparable&) {
    throw;
  } catch (const std::exception& error) {
    refuse_file(path, error.what(), kChangedRemedy);
  }
}

std::vector<ComparedRun> read_compared_runs(std::span<const std::string> paths) {
  // Each reader holds its file's text: no more of them at once than there are processors.
  std::counting_semaphore<> processors{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
  std::vector<std::future<ComparedRun>> readers;
  readers.reserve(paths.size());
  for (const std::string& path : paths) {
    readers.push_back(std::async(std::launch::async, [&processors, &path] {
      struct Slot {
        std::counting_semaphore<>& semaphore;
        explicit Slot(std::counting_semaphore<>& s) : semaphore{s} { semaphore.acquire(); }
        ~Slot() { semaphore.release(); }
      };
      const Slot slot{processors};
      return read_compared_run(path);
    }));
  }
  std::vector<ComparedRun> runs;
  runs.reserve(paths.size());
  for (std::future<ComparedRun>& reader : readers) runs.push_back(reader.get());
  return runs;
}

ComparisonSide side_of(std::vector<ComparedRun> runs) {
  ComparisonSide side;
  std::unordered_map<std::string, std::size_t> index;
  for (ComparedRun& run : runs) {
    side.paths.push_back(run.path);
    if (run.environment) side.environments.push_back(*std::move(run.environment));
    std::ranges::move(run.warnings, std::back_inserter(side.warnings));
    for (Observation& observation : run.observations) {
      std::string key = match_key(observation.id);
      const auto [found, is_new] = index.emplace(key, side.cases.size());
      if (is_new) side.cases.push_back({std::move(observation.id), std::move(key), {}});
      side.cases[found->second].replicates.push_back(std::move(observation.replicate));
    }
  }
  return side;
}

}  // namespace tbench::report

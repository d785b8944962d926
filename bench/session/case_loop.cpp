// Registers one benchmark of Google Benchmark per planned case. A reporter writes the records to the results file as
// they arrive and prints them.
#include "bench/session/case_loop.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/cli/google_benchmark_flags.hpp"
#include "bench/run/plugins.hpp"
#include "bench/run/stop_signals.hpp"
#include "bench/session/run_progress.hpp"
#include "tbench/render/run_console.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::bench {
namespace {

/// Records of finished cases that the reporter has not taken yet, by case name.
using FinishedRecords = std::map<std::string, std::vector<Record>>;

class RunReporter final : public benchmark::BenchmarkReporter {
 public:
  /// Reports the finished cases to the console and to the results file.
  /// @param console  null: no console output (--benchmark_format=json)
  RunReporter(FinishedRecords& finished, RunProgress& progress, render::ConsoleTable* console,
              const RecordOutput& output)
      : finished_{finished}, progress_{progress}, console_{console}, output_{output} {}

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Returns the records of this run in order of arrival.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  FinishedRecords& finished_;
  RunProgress& progress_;
  render::ConsoleTable* console_;
  RecordOutput output_;
  std::vector<Record> records_;
};

void RunReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const auto found = finished_.find(run.run_name.function_name);
    if (found == finished_.end()) continue;  // the case was interrupted
    for (Record& record : found->second) {
      record.machine = output_.machine;
      // Write to disk before printing, so that no result that the user has seen is lost.
      if (output_.writer != nullptr) output_.writer->add(record);
      progress_.clear();
      if (console_ != nullptr) console_->row(record);
      records_.push_back(std::move(record));
    }
    finished_.erase(found);
  }
}

/// The context in which planned cases run.
struct Run {
  CaseRunner& runner;
  RunProgress& progress;
  MeasuredCeilings* ceilings;  // null: records are not compared with ceilings
  TimeLimit& limit;
  std::function<std::optional<Record>(const CaseId&)> known_oom;
  std::int64_t processes{};
  std::optional<std::int64_t>& replicate;  // number of the current process; nullopt before the first case
};

/// The last activity of a case. All times are taken by then, so that starting another process does not disturb the
/// case.
constexpr std::string_view kLastActivity = "verifying again";

/// Runs a planned case, in a new process if needed. A case that cannot run, or is known not to fit, starts no process;
/// the next case of its replicate then starts the replicate's process.
/// @param next  the following case; null if there is none
std::vector<Record> run_where_planned(const ScheduledCase& planned, const ScheduledCase* next, const Run& run) {
  if (std::optional<Record> oom = run.known_oom(planned.id)) return {std::move(*oom)};
  const bool begins_replicate = run.replicate && *run.replicate != planned.process;
  if (planned.needs_fresh_process || begins_replicate) {
    if (std::optional<Record> refusal = run.runner.refusal(planned.id, stop_signalled)) return {std::move(*refusal)};
    run.runner.renew_process();
  }
  run.replicate = planned.process;
  const auto show_progress = [&](std::string_view activity) {
    run.progress.update(activity);
    if (activity == kLastActivity && next != nullptr && next->needs_fresh_process) run.runner.prepare_process();
  };
  return run.runner.run(planned.id, show_progress, stop_signalled);
}

/// Returns the records of a planned case, with ceilings, and with the number of the process if there are several.
std::vector<Record> run_planned(const ScheduledCase& planned, const ScheduledCase* next, const Run& run) {
  std::vector<Record> records = run_where_planned(planned, next, run);
  for (Record& record : records) {
    if (run.ceilings != nullptr) {
      run.ceilings->learn(record, planned.process);
      run.ceilings->hold(record, planned.process);
      refuse_above_ceiling(record);
    }
    if (run.processes == 1) continue;
    record.repetition_index = planned.process;
    record.repetitions = run.processes;
  }
  return records;
}

/// Registers one benchmark per planned case. Its body runs the case and stores the records for the reporter; Google
/// Benchmark receives the median as the time of a single iteration.
void register_cases(const RunPlan& plan, const Run& run, FinishedRecords& finished) {
  for (std::size_t index = 0; index < plan.size(); ++index) {
    const auto body = [&, index](benchmark::State& state) {
      if (stop_signalled() || !run.limit.allows(index)) return state.SkipWithError("interrupted");
      const std::string name = plan[index].id.name();
      run.progress.begin_case(index, name);
      const ScheduledCase* const next = index + 1 < plan.size() ? &plan[index + 1] : nullptr;
      std::vector<Record> records = run_planned(plan[index], next, run);
      run.progress.end_case();
      if (records.empty()) return state.SkipWithError("interrupted");
      const Record& last = records.back();
      if (last.timing) {
        for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(last.timing->median.value);
        for (const auto& [counter, value] : counters_of(last)) state.counters[counter] = value;
      } else {
        state.SkipWithError(last.reason.c_str());
      }
      finished[name] = std::move(records);
    };
    benchmark::RegisterBenchmark(plan[index].id.name().c_str(), body)->UseManualTime()->Iterations(1);
  }
}

/// Runs the registered benchmarks. Google Benchmark receives none of the user's flags, which are all handled beforehand
/// (see bench/README.md).
void run_registered(RunReporter& reporter) {
  std::vector<std::string> words = flags_for_google_benchmark();
  words.insert(words.begin(), "transformer_bench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}

/// Makes the console table. It shows whole names, or on a narrow terminal short names with a legend above the table.
render::ConsoleTable make_console(const RunPlan& plan, const Options& options) {
  std::vector<CaseId> cases;
  std::size_t name_width = 0;
  for (const ScheduledCase& planned : plan) {
    cases.push_back(planned.id);
    name_width = std::max(name_width, planned.id.name().size());
  }
  const std::optional<std::size_t> terminal = render::terminal_width(STDOUT_FILENO);
  render::ConsoleTable::Options console{
      .name_width = name_width,
      .colour = options.color == ColorChoice::kAlways || (options.color == ColorChoice::kAuto && terminal.has_value()),
      .width = terminal};
  const std::size_t whole = name_width + render::ConsoleTable::numbers_width();
  if (options.json_on_stdout || !terminal || whole <= *terminal) return {stdout, std::move(console)};
  const render::ShortNames names{cases};
  console.name_width = names.width();
  console.name = names;
  for (const std::string& line : names.legend()) fmt::print("{}\n", line);
  fmt::print("\n");
  return {stdout, std::move(console)};
}

}  // namespace

std::vector<Record> run_cases(const RunPlan& plan, CaseRunner& runner, MeasuredCeilings* ceilings,
                              const Options& options, const RecordOutput& output, const RunTime& time) {
  std::optional<ExpectedTimes> times;
  if (time.durations != nullptr) times.emplace(plan, time.durations->table);
  ExpectedTimes* const known_times = times ? &*times : nullptr;
  RunProgress progress{plan.size(), known_times};
  TimeLimit limit{options.stop_after, known_times, time.program_began};
  render::ConsoleTable console = make_console(plan, options);
  FinishedRecords finished;
  RunReporter reporter{finished, progress, options.json_on_stdout ? nullptr : &console, output};
  std::optional<std::int64_t> replicate;
  const Run run{
      .runner = runner,
      .progress = progress,
      .ceilings = ceilings,
      .limit = limit,
      .known_oom = [&](const CaseId& id) { return known_oom(id, time.durations, runner.environment(), options); },
      .processes = options.processes,
      .replicate = replicate};
  register_cases(plan, run, finished);
  if (!plan.empty()) run_registered(reporter);
  progress.clear();
  if (results::ResultWriter* const writer = output.writer) {
    if (stop_signalled()) writer->set_interrupted();
    writer->set_other_processes_at_end(runner.end_and_count_other_processes());
    writer->finish();
  }
  if (!options.json_on_stdout) {
    const std::optional<std::string> path = options.out.empty() ? std::nullopt : std::optional{options.out};
    console.summary(progress.elapsed(), path);
    const render::RunOutput named{.path = options.out, .study = options.study, .has_page = !options.page.empty()};
    for (const std::string& line : render::findings_of(reporter.records(), named)) fmt::print("{}\n", line);
    if (stop_signalled()) fmt::print("interrupted\n");
  }
  if (limit.stopped_at()) tell_stop(options, plan.size() - *limit.stopped_at(), plan.size(), time.command);
  return reporter.records();
}

}  // namespace tbench::bench

// One benchmark of Google Benchmark a planned case; and what a run shows and keeps: the progress line, and our reporter
// for Google Benchmark, which writes records to the results file as they arrive and shows them.
#include "bench/planned_cases.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/plugins.hpp"
#include "tbench/render/run_console.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kShowInterval{200};

class RunProgress {
 public:
  /// Shows on stderr if that is a terminal, else nothing.
  explicit RunProgress(std::size_t case_count);

  void begin_case(std::size_t index, const std::string& name);
  /// Shows what the running case is doing; a repeated activity at most five times a second.
  void update(std::string_view activity);
  void clear() { line_.clear(); }
  [[nodiscard]] Seconds elapsed() const;

 private:
  render::ProgressLine line_;
  render::Progress shown_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_shown_;
};

/// Where a finished case's records wait for the reporter, by case name.
using FinishedRecords = std::map<std::string, std::vector<Record>>;

class RunReporter final : public benchmark::BenchmarkReporter {
 public:
  /// @param console  null: nothing on the console (--benchmark_format=json)
  /// @param writer   null: no result file
  RunReporter(FinishedRecords& finished, RunProgress& progress, render::ConsoleTable* console,
              results::ResultWriter* writer)
      : finished_{finished}, progress_{progress}, console_{console}, writer_{writer} {}

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Records of this run in the order they arrived.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  FinishedRecords& finished_;
  RunProgress& progress_;
  render::ConsoleTable* console_;
  results::ResultWriter* writer_;
  std::vector<Record> records_;
};

void RunReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const auto found = finished_.find(run.run_name.function_name);
    if (found == finished_.end()) continue;  // interrupted before it was done
    for (Record& record : found->second) {
      // On the disk before it is on the console: what a user has seen is never lost.
      if (writer_ != nullptr) writer_->add(record);
      progress_.clear();
      if (console_ != nullptr) console_->row(record);
      records_.push_back(std::move(record));
    }
    finished_.erase(found);
  }
}

RunProgress::RunProgress(std::size_t case_count)
    : line_{stderr, render::terminal_width(STDERR_FILENO)}, began_{std::chrono::steady_clock::now()} {
  shown_.count = case_count;
}

void RunProgress::begin_case(std::size_t index, const std::string& name) {
  shown_.number = index + 1;
  shown_.name = name;
  // The cases to come are taken to be like those that are done: rough, and soon better.
  if (index > 0)
    shown_.remaining = elapsed() * (static_cast<double>(shown_.count - index) / static_cast<double>(index));
  update("building");
}

void RunProgress::update(std::string_view activity) {
  const auto now = std::chrono::steady_clock::now();
  if (activity == shown_.activity && now - last_shown_ < kShowInterval) return;
  shown_.activity = activity;
  shown_.elapsed = elapsed();
  last_shown_ = now;
  line_.update(shown_);
}

Seconds RunProgress::elapsed() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count()};
}

/// Everything that running a planned case needs.
struct Run {
  CaseRunner& runner;
  RunProgress& progress;
  MeasuredCeilings& ceilings;
  std::int64_t processes{};
};

/// The records of a planned case, each with its ceiling, and with the number of its process where there are several.
std::vector<Record> run_planned(const PlannedCase& planned, const Run& run) {
  const auto& [runner, progress, ceilings, processes] = run;
  if (planned.needs_fresh_process) runner.renew_process();
  std::vector<Record> records = runner.run(
      planned.id, [&](std::string_view activity) { run.progress.update(activity); }, stop_signalled);
  for (Record& record : records) {
    ceilings.learn(record, planned.process);
    ceilings.hold(record, planned.process);
    refuse_above_ceiling(record);
    if (processes == 1) continue;
    record.repetition_index = planned.process;
    record.repetitions = processes;
  }
  return records;
}

/// Registers one benchmark a planned case. Its body runs the case and leaves the records for the reporter; Google
/// Benchmark gets the median as the time of the one iteration.
void register_cases(const std::vector<PlannedCase>& plan, const Run& run, FinishedRecords& finished) {
  for (std::size_t index = 0; index < plan.size(); ++index) {
    const auto body = [&, index](benchmark::State& state) {
      if (stop_signalled()) return state.SkipWithError("interrupted");
      const std::string name = plan[index].id.name();
      run.progress.begin_case(index, name);
      std::vector<Record> records = run_planned(plan[index], run);
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

/// Google Benchmark gets none of the flags: all of them are handled before (bench/README.md says why).
void run_registered(RunReporter& reporter) {
  std::string name = "transformer_bench";
  char* arguments[] = {name.data(), nullptr};
  int count = 1;
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}

/// Whole names, but on a terminal too narrow for them short ones, with their legend above.
render::ConsoleTable make_console(const std::vector<PlannedCase>& plan, const Options& options) {
  std::vector<CaseId> cases;
  std::size_t name_width = 0;
  for (const PlannedCase& planned : plan) {
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

std::vector<Record> run_cases(const std::vector<PlannedCase>& plan, CaseRunner& runner, MeasuredCeilings& ceilings,
                              const Options& options, results::ResultWriter* writer) {
  RunProgress progress{plan.size()};
  render::ConsoleTable console = make_console(plan, options);
  FinishedRecords finished;
  RunReporter reporter{finished, progress, options.json_on_stdout ? nullptr : &console, writer};
  const Run run{.runner = runner, .progress = progress, .ceilings = ceilings, .processes = options.processes};
  register_cases(plan, run, finished);
  if (!plan.empty()) run_registered(reporter);
  progress.clear();
  if (writer != nullptr) {
    if (stop_signalled()) writer->set_interrupted();
    writer->finish();
  }
  if (!options.json_on_stdout) {
    const std::optional<std::string> path = options.out.empty() ? std::nullopt : std::optional{options.out};
    console.summary(progress.elapsed(), path);
    for (const std::string& line : render::findings_of(reporter.records(), path)) fmt::print("{}\n", line);
    if (stop_signalled()) fmt::print("interrupted\n");
  }
  return reporter.records();
}

}  // namespace tbench::bench

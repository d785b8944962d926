#include "bench/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bench/author/page.hpp"
#include "bench/plan/ceilings.hpp"
#include "bench/run/child_runner.hpp"
#include "bench/run/local_runner.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/run/run_facts.hpp"
#include "bench/run/stop_signals.hpp"
#include "bench/session/case_loop.hpp"
#include "bench/session/output.hpp"
#include "bench/session/rank_session.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/report_page.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {
namespace {

/// A run in progress: its runner, its output and its records.
struct Session {
  const Request& request;
  std::optional<Output> output;  // absent if no results file is written, or if another rank writes it
  std::unique_ptr<CaseRunner> runner;
  results::ResultFile file{};  // includes the records of an earlier run
  std::int64_t machine{};      // this machine's place among those of the file
  MeasuredCeilings ceilings;

  [[nodiscard]] bool on_gpu() const { return file.environment.gpu.has_value(); }
};

/// Returns the regimes of the selected cases.
std::set<Regime> regimes_of(const std::vector<FamilySpec>& families, const std::vector<CaseId>& cases) {
  std::set<Regime> regimes;
  for (const CaseId& id : cases) regimes.insert(is_burst(families, id) ? Regime::kBurst : Regime::kSustained);
  return regimes;
}

/// Makes the runner. Its children receive the selected suite.
std::unique_ptr<CaseRunner> make_runner(const Request& request) {
  Options chosen = request.options;
  chosen.suite = request.selection.suite;
  if (chosen.isolation == Isolation::kNone) return std::make_unique<LocalRunner>(request.families, chosen);
  std::vector<std::string> arguments = request.call.arguments;
  if (!request.options.suite && chosen.study.empty()) {
    arguments.push_back(fmt::format("--tb_suite={}", to_string(*chosen.suite)));
  }
  return make_supervised_runner(chosen, std::move(arguments));
}

/// Adds this machine to the machines of the earlier run, and prints a note if it is another machine.
/// @param path         the results file
/// @param environment  environment of this run; gets the machines of the file
/// @return             this machine's index among the machines of the file
std::int64_t join_machines(const std::string& path, const Environment& earlier, Environment& environment) {
  Environment all = earlier;
  const std::int64_t machine = add_machines(all, environment).front();
  environment.machines = std::move(all.machines);
  if (all.gpu) environment.gpu->uuid = all.gpu->uuid;
  if (environment.machines.size() > 1) {
    fmt::print(
        stderr,
        "transformer_bench: --tb_resume: '{}' now has cases of {} machines. Each case names its own, and has the "
        "ceilings of its own\n",
        path, environment.machines.size());
  }
  return machine;
}

/// Returns the results file before this run's cases: its header and the records of an earlier run.
/// @param machine  set to this machine's index among the machines of the file
/// @throws         UsageError  if the earlier run must not be resumed
results::ResultFile open_file(const Request& request, const Environment& environment, std::optional<Output>& output,
                              std::int64_t& machine) {
  const Options& options = request.options;
  const std::set<Regime> regimes = regimes_of(specs_of(request.families), request.selection.cases);
  results::ResultFile file{
      .environment = environment,
      .host = read_host_facts("transformer_bench"),
      .options = recorded_options(options, request.selection, regimes, environment.gpu.has_value()),
      .interrupted = false,
      .records = {}};
  record_durations(file.options, options, request.durations, request.places);
  if (output && output->earlier) {
    results::check_resumable(options.out, *output->earlier, file.environment);
    check_same_options(options.out, *output->earlier, file.options);
    machine = join_machines(options.out, output->earlier->environment, file.environment);
    file.records = std::move(output->earlier->records);
  }
  return file;
}

/// Takes the results file, starts the runner and meets the other ranks. A rank other than the coordinator has only a
/// runner.
/// @return  nullopt if the user asked to stop before all ranks had arrived
/// @throws  UsageError  for a results file that cannot be written or resumed, or if the machine is not the requested
///          one
std::optional<Session> open_session(const Request& request) {
  std::optional<Output> output = request.is_coordinator() ? take_output(request.options) : std::nullopt;
  catch_stop_signals();
  if (request.ranks != nullptr && request.gpu) show_own_gpu(request.ranks->launch());
  std::unique_ptr<CaseRunner> runner = make_runner(request);
  if (request.ranks != nullptr) {
    if (!request.ranks->meet(
            {.refusal = {}, .arguments = request.call.arguments, .environment = runner->environment()})) {
      return std::nullopt;
    }
    if (request.is_coordinator()) {
      runner = make_coordinator_runner(std::move(runner), *request.ranks, request.options.timeout);
    }
  }
  Session session{.request = request,
                  .output = std::move(output),
                  .runner = std::move(runner),
                  .ceilings = MeasuredCeilings{request.families}};
  if (!request.is_coordinator()) return session;
  session.file = open_file(request, session.runner->environment(), session.output, session.machine);
  for (const Record& record : session.file.records) {
    if (record.machine != session.machine) continue;
    session.ceilings.learn(record, process_of(record, request.options.processes));
  }
  return session;
}

/// Returns the names of all cases that the run's file will hold: the finished cases and the planned cases, each once.
std::vector<std::string> planned_names(std::span<const Record> finished, const RunPlan& plan) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const auto add = [&](const CaseId& id) {
    if (known.insert(id.name()).second) names.push_back(id.name());
  };
  for (const Record& record : finished) add(record.id);
  for (const ScheduledCase& planned : plan) add(planned.id);
  return names;
}

/// Prints the machine and the plan of the run, unless results go to stdout.
void announce(const Request& request, const Environment& environment, const RunPlan& plan) {
  if (request.options.json_on_stdout) return;
  fmt::print("{}\n", render::machine_line(environment));
  if (const RunDurations* const durations = request.durations_here()) {
    fmt::print("{}\n", plan_text(plan, names_of(request.own_cases), durations));
  }
  say_what_is_left_out(request.selection, stdout);
}

/// Runs the planned cases.
/// @return  records of the cases
std::vector<Record> run_planned_cases(const RunPlan& plan, Session& session) {
  const Request& request = session.request;
  const Options& options = request.options;
  std::optional<results::ResultWriter> writer;
  if (session.output) writer.emplace(std::move(session.output->lock), session.file);
  const RunTime time{.program_began = request.call.program_began,
                     .durations = request.durations_here(),
                     .command = request.call.words};
  // Times of the smoke suite are not compared with ceilings, except to detect a plug-in's times that no GPU or CPU can
  // reach.
  const bool compares =
      request.selection.suite != Suite::kSmoke || !options.plugins.empty() || request.runs_ceilings(session.on_gpu());
  return run_cases(plan, *session.runner, compares ? &session.ceilings : nullptr, options,
                   {.writer = writer ? &*writer : nullptr, .machine = session.machine}, time);
}

/// Prints how many records lack a requested part, and the reason of the first: its label `none: WHY`.
void warn_of_missing(const std::vector<Record>& records, const std::string& label, const char* flag, const char* what) {
  std::size_t count = 0;
  std::string first;
  for (const Record& record : records) {
    const auto why = record.labels.find(label);
    if (why == record.labels.end()) continue;
    if (count++ == 0) first = fmt::format("{}: {}", record.id.name(), why->second);
  }
  if (count > 0)
    fmt::print(stderr, "transformer_bench: {}: {} of {} cases {}; {}\n", flag, count, records.size(), what, first);
}

int exit_status(const std::vector<Record>& records) {
  if (stop_signalled()) return kExitInterrupted;
  const bool failed = std::ranges::any_of(records, [](const Record& record) { return is_failure(record.status); });
  return failed ? kExitFailedCase : kExitOk;
}

/// Reports missing parts of the records, and prints the file if it goes to stdout.
/// @return  exit status
int finish(Session& session, const std::vector<Record>& records) {
  warn_of_missing(records, "trace", "--tb_trace", "have their times alone");
  warn_of_missing(records, "profile", "--tb_profile", "have no files");
  results::ResultFile& file = session.file;
  for (const Record& record : records) results::merge(file.records, record);
  file.interrupted = stop_signalled();
  file.other_processes_at_end = session.runner->end_and_count_other_processes();
  if (file.other_processes_at_end.value_or(0) > 0) {
    const std::int64_t others = *file.other_processes_at_end;
    fmt::print(stderr, "transformer_bench: {} used the GPU when the run ended: do not trust its times\n",
               counted(others, "other process", "other processes"));
  }
  say_answer(session.request.options, file);
  if (session.request.options.json_on_stdout) {
    fmt::print("{}", results::pretty(results::result_file_to_json(file)));
  }
  return exit_status(file.records);
}

}  // namespace

int run_session(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* ranks) {
  const std::optional<std::string> gpu = options.device == DeviceChoice::kCpu ? std::nullopt : present_gpu();
  if (gpu && options.list_only && !another_process_can_use_gpu()) return kExitUsage;
  const Request request = resolve(families, options, std::move(call), ranks, gpu);
  if (options.list_only) {
    if (request.is_coordinator()) list_cases(request);
    return kExitOk;
  }
  std::optional<Session> session = open_session(request);
  if (!session) return kExitInterrupted;
  if (!request.is_coordinator()) return serve_as_rank(*session->runner, *ranks, stop_signalled);
  const RunPlan plan = make_run_plan(plan_input(request, session->on_gpu(), session->file.records, session->machine));
  session->file.plan = planned_names(session->file.records, plan);
  announce(request, session->file.environment, plan);
  return finish(*session, run_planned_cases(plan, *session));
}

}  // namespace tbench::bench

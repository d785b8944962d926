#include "bench/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "bench/plan/ceilings.hpp"
#include "bench/plan/durations.hpp"
#include "bench/plan/selection.hpp"
#include "bench/run/case_profile.hpp"
#include "bench/run/child_runner.hpp"
#include "bench/run/local_runner.hpp"
#include "bench/run/plugins.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/run/rendezvous.hpp"
#include "bench/run/run_facts.hpp"
#include "bench/run/stop_signals.hpp"
#include "bench/run/worker.hpp"
#include "bench/session/case_loop.hpp"
#include "bench/session/rank_session.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::bench {
namespace {

/// The regimes of the selected cases.
std::set<Regime> regimes_of(const std::vector<FamilySpec>& families, const std::vector<CaseId>& cases) {
  std::set<Regime> regimes;
  for (const CaseId& id : cases) regimes.insert(is_burst(families, id) ? Regime::kBurst : Regime::kSustained);
  return regimes;
}

std::set<std::string> names_of(std::span<const CaseId> cases) {
  std::set<std::string> names;
  for (const CaseId& id : cases) names.insert(id.name());
  return names;
}

/// The right to write --benchmark_out, and what an earlier run left there, for --tb_resume.
struct Output {
  results::OutputLock lock;
  std::optional<results::ResultFile> earlier;
};

/// @return  nothing without --benchmark_out
/// @throws  UsageError  if it cannot be written, or another process is writing it; or for an unfinished run, which
///                      would be overwritten, without --tb_resume
std::optional<Output> take_output(const Options& options) {
  if (options.out.empty()) return std::nullopt;
  results::ResultWriter::check_writable(options.out);
  Output output{.lock = results::OutputLock{options.out}, .earlier = {}};
  if (options.resume) {
    output.earlier = results::load_for_resume(options.out);
  } else if (results::has_journal(options.out)) {
    throw UsageError{
        fmt::format("--benchmark_out={}: {} holds an unfinished run: add --tb_resume to resume it, or "
                    "delete the journal to start over",
                    options.out, results::journal_path(options.out))};
  }
  return output;
}

/// Families whose cases each start in a fresh process, which neither repetitions nor --tb_isolate=none can give them.
/// @throws  UsageError  if the options ask for it and the cases are among the selected
std::set<std::string> families_needing_new_process(const std::vector<Family>& families,
                                                   const std::vector<CaseId>& cases, const Options& options) {
  std::set<std::string> names;
  for (const Family& family : families) {
    if (family.needs_fresh_process) names.insert(family.spec.name);
  }
  const auto first = std::ranges::find_if(cases, [&](const CaseId& id) { return names.contains(id.family()); });
  if (first == cases.end()) return names;
  const auto refuse = [&](const std::string& flag, const char* remedy) {
    throw UsageError{fmt::format("{}: {} is measured in a fresh process; {}", flag, first->name(), remedy)};
  };
  if (options.isolation == Isolation::kNone) refuse("--tb_isolate=none", "leave it out, or filter such cases out");
  if (options.repetitions > 1) {
    refuse(fmt::format("--benchmark_repetitions={}", options.repetitions), "use --tb_processes");
  }
  return names;
}

/// @throws  UsageError  if the case that --tb_plant slows down is not measured, or times its first steps, which the
/// plant
///                      needs to learn their time
void check_plant(const std::optional<InjectedDelay>& plant, const std::vector<CaseId>& cases,
                 const std::set<std::string>& fresh_families) {
  if (!plant) return;
  const auto is_planted = [&](const CaseId& id) { return id.name() == plant->name; };
  if (std::ranges::none_of(cases, is_planted)) {
    throw UsageError{fmt::format("--tb_plant: '{}' is not among the selected cases; --benchmark_list_tests lists them",
                                 plant->name)};
  }
  if (fresh_families.contains(CaseId::parse(plant->name).family())) {
    throw UsageError{
        fmt::format("--tb_plant: {} is about the first steps of a process; give another case", plant->name)};
  }
}

/// All records of a file are measured in one way: in the number of processes that each states, with the same plant,
/// verified as often, traced or not, in as much memory; and they are of one shard.
/// @throws  UsageError  if `earlier` was started with another number or plant, or another --tb_verify or
///                      --tb_trace, --tb_memory_limit, --tb_shard; if the shard is of another selection, or by other
///                      durations
void check_same_options(const std::string& path, const results::ResultFile& earlier,
                        const std::map<std::string, std::string>& now) {
  const std::pair<const char*, const char*> kSame[]{
      {"processes", "1"}, {"plant", "nothing"},          {"verify", "twice"},
      {"trace", "off"},   {"memory_limit", "all of it"}, {"shard", "1/1"}};
  const auto value_in = [](const std::map<std::string, std::string>& options, const char* name, const char* unset) {
    const auto found = options.find(name);
    return found == options.end() ? std::string{unset} : found->second;
  };
  for (const auto& [name, unset] : kSame) {
    const std::string before = value_in(earlier.options, name, unset);
    if (before == value_in(now, name, unset)) continue;
    throw UsageError{
        fmt::format("--tb_resume: '{}' was started with --tb_{}={}; resume it with the same, or give another "
                    "--benchmark_out",
                    path, name, before)};
  }
  if (const std::string before = value_in(earlier.options, "ranks", "1"); before != value_in(now, "ranks", "1")) {
    throw UsageError{
        fmt::format("--tb_resume: '{}' was started with {} rank(s); resume it with as many, or give another "
                    "--benchmark_out",
                    path, before)};
  }
  if (!now.contains("shard")) return;
  for (const char* name : {"suite", "study", "filter", "shared_cases"}) {
    const std::string before = value_in(earlier.options, name, "none");
    const std::string after = value_in(now, name, "none");
    if (before == after) continue;
    throw UsageError{
        fmt::format("--tb_resume: '{}' is a shard of other cases ({} {}, and now {}); resume it with the same "
                    "selection, or give another --benchmark_out",
                    path, name, before, after)};
  }
  const std::string before = value_in(earlier.options, "durations", "none");
  const std::string after = value_in(now, "durations", "none");
  if (earlier.options.contains("shard_places") == now.contains("shard_places") && before == after) return;
  throw UsageError{fmt::format(
      "--tb_resume: '{}' is a shard by the durations {}, and now {} would decide which cases it has. Give the "
      "same table with --tb_durations (none: --tb_durations=off), or another --benchmark_out.",
      path, before, after)};
}

/// Whether to run the Ceiling cases that the selected cases are measured against.
bool runs_ceilings(CeilingChoice choice, bool on_gpu, Suite suite) {
  return choice == CeilingChoice::kAuto ? on_gpu && suite != Suite::kSmoke : choice == CeilingChoice::kOn;
}

std::unique_ptr<CaseRunner> make_runner(const std::vector<Family>& families, const Options& options,
                                        std::vector<std::string> arguments) {
  if (options.isolation == Isolation::kNone) return std::make_unique<LocalRunner>(families, options);
  return make_supervised_runner(options, std::move(arguments));
}

/// Tells how many records lack something that was asked for, and why the first of them does: a label `none: WHY`.
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

/// The cases of a run, and the records of those that are done.
struct Workload {
  const std::vector<Family>& families;
  const Selection& selection;
  const std::vector<CaseId>& own_cases;  // of the shard
  const std::set<std::string>& fresh_families;
  const std::vector<Record>& finished;
};

/// The cases that are left, with the ceilings that they need, in their order, and which of them start a process.
std::vector<ScheduledCase> make_plan(const Workload& workload, const Options& options, bool on_gpu) {
  const bool with_ceilings = runs_ceilings(options.ceilings, on_gpu, workload.selection.suite);
  std::vector<ScheduledCase> plan =
      plan_runs(workload.selection.cases, options.processes, options.order_seed.value_or(options.seed));
  drop_finished(plan, workload.finished, options.processes);
  std::set<std::string> of_this_run = names_of(workload.own_cases);
  put_ceilings_first(plan, [&](std::span<const CaseId> cases) {
    std::vector<CaseId> needed = with_ceilings ? ceilings_of(workload.families, cases, on_gpu) : std::vector<CaseId>{};
    of_this_run.merge(names_of(needed));
    return needed;
  });
  keep_cases(plan, of_this_run);
  drop_finished(plan, workload.finished, options.processes);
  isolate(plan, workload.fresh_families);
  if (on_gpu && options.isolation != Isolation::kNone) isolate_graphs(plan);
  if (options.isolation != Isolation::kNone) put_plugins_last(plan);
  return plan;
}

/// Names alone on stdout, so that pipes see nothing else; what they take together on stderr.
void list_cases(const Workload& workload, const Options& options, bool use_gpu, const RunDurations* durations) {
  for (const CaseId& id : workload.own_cases) fmt::print("{}\n", id.name());
  const bool for_gpu = use_gpu || (durations != nullptr && !durations->is_given);
  const std::vector<ScheduledCase> plan = make_plan(workload, options, for_gpu);
  fmt::print(stderr, "{}\n", plan_text(plan, names_of(workload.own_cases), durations));
  say_what_is_left_out(workload.selection, stderr);
}

/// The plan of a whole file of the run: the cases of `finished`, and those still to run, each once.
std::vector<std::string> planned_names(std::span<const Record> finished, std::span<const ScheduledCase> plan) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const auto add = [&](const CaseId& id) {
    if (known.insert(id.name()).second) names.push_back(id.name());
  };
  for (const Record& record : finished) add(record.id);
  for (const ScheduledCase& planned : plan) add(planned.id);
  return names;
}

/// How the program was called, and when.
struct Call {
  std::vector<std::string> words;                       // program and arguments, as the user gave them
  std::vector<std::string> arguments;                   // for child processes, without the program's name
  std::chrono::steady_clock::time_point program_began;  // what --tb_stop_after counts from
};

/// Runs the selected cases of `families`.
/// @param rendezvous  of all ranks, of which rank 0 alone selects, prints and writes; null: a process by itself
/// @return  exit status: 0, 1 if a case is incorrect, timed out or crashed, 130 when interrupted
/// @throws  UsageError  before any work
int run_session(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* rendezvous) {
  const std::optional<std::string> gpu = options.device == DeviceChoice::kCpu ? std::nullopt : present_gpu();
  const bool use_gpu = gpu.has_value();
  if (use_gpu && options.list_only && !another_process_can_use_gpu()) return kExitUsage;
  const bool coordinates = rendezvous == nullptr || rendezvous->is_coordinator();
  Selection selection = select_for_launch(families, options, use_gpu);
  if (!use_gpu) leave_out_gpu_cases(selection, families, options);
  const std::optional<RunDurations> durations = choose_durations(options, selection.suite, gpu);
  std::optional<Places> places;
  if (options.shard && durations) places = shard_places(selection, *options.shard, durations->table);
  const std::vector<CaseId> own_cases = select_shard(selection, options.shard, places);
  // A table of a GPU says nothing of a CPU, unless the user gave it.
  const RunDurations* const of_this_run =
      durations && (use_gpu || options.list_only || durations->is_given) ? &*durations : nullptr;
  if (durations && coordinates) {
    if (const auto note = mismatch_note(options, *durations)) fmt::print(stderr, "transformer_bench: {}\n", *note);
  }
  std::set<std::string> fresh_families;
  std::vector<Record> finished;
  const Workload workload{.families = families,
                          .selection = selection,
                          .own_cases = own_cases,
                          .fresh_families = fresh_families,
                          .finished = finished};
  if (options.list_only) {
    if (coordinates) list_cases(workload, options, use_gpu, of_this_run);
    return kExitOk;
  }
  if (rendezvous != nullptr) check_with_ranks(options);
  if (options.device == DeviceChoice::kCuda && !use_gpu) {
    throw no_cuda_device();
  }
  if (!use_gpu) refuse_gpu_options(options);
  if (!options.profile.empty()) make_profile_root(options.profile);
  fresh_families = families_needing_new_process(families, selection.cases, options);
  check_plant(options.plant, selection.cases, fresh_families);
  std::optional<Output> output = coordinates ? take_output(options) : std::nullopt;
  catch_stop_signals();
  if (rendezvous != nullptr && use_gpu) show_own_gpu(rendezvous->launch());
  const std::vector<std::string> given_arguments = call.arguments;
  if (!options.suite && options.study.empty())
    call.arguments.push_back(fmt::format("--tb_suite={}", to_string(selection.suite)));
  Options chosen = options;
  chosen.suite = selection.suite;
  std::unique_ptr<CaseRunner> runner = make_runner(families, chosen, std::move(call.arguments));
  if (rendezvous != nullptr) {
    if (!rendezvous->meet({.refusal = {}, .arguments = given_arguments, .environment = runner->environment()})) {
      return kExitInterrupted;
    }
    if (!coordinates) return serve_as_rank(*runner, *rendezvous, stop_signalled);
    runner = make_coordinator_runner(std::move(runner), *rendezvous, options.timeout);
  }
  const bool on_gpu = runner->environment().gpu.has_value();
  const std::set<Regime> regimes = regimes_of(specs_of(families), selection.cases);
  results::ResultFile file{.environment = runner->environment(),
                           .host = read_host_facts("transformer_bench"),
                           .options = recorded_options(options, selection, regimes, on_gpu),
                           .interrupted = false,
                           .records = {}};
  record_durations(file.options, options, durations, places);
  if (output && output->earlier) {
    results::check_resumable(options.out, *output->earlier, file.environment);
    check_same_options(options.out, *output->earlier, file.options);
    file.records = std::move(output->earlier->records);
  }
  MeasuredCeilings ceilings{families};
  for (const Record& record : file.records) ceilings.learn(record, process_of(record, options.processes));
  finished = file.records;
  const std::vector<ScheduledCase> plan = make_plan(workload, options, on_gpu);
  file.plan = planned_names(file.records, plan);
  if (!options.json_on_stdout) {
    if (of_this_run != nullptr) fmt::print("{}\n", plan_text(plan, names_of(own_cases), of_this_run));
    say_what_is_left_out(selection, stdout);
  }
  std::optional<results::ResultWriter> writer;
  if (output) writer.emplace(std::move(output->lock), file);
  const RunTime time{.program_began = call.program_began, .durations = of_this_run, .command = std::move(call.words)};
  // Times of the smoke suite are of no use for a comparison, but for a plug-in's that no GPU or CPU can reach.
  const bool compares = selection.suite != Suite::kSmoke || !options.plugins.empty() ||
                        runs_ceilings(options.ceilings, on_gpu, selection.suite);
  const std::vector<Record> records =
      run_cases(plan, *runner, compares ? &ceilings : nullptr, options, writer ? &*writer : nullptr, time);
  warn_of_missing(records, "trace", "--tb_trace", "have their times alone");
  warn_of_missing(records, "profile", "--tb_profile", "have no files");
  file.records.insert(file.records.end(), records.begin(), records.end());
  file.interrupted = stop_signalled();
  if (options.json_on_stdout) fmt::print("{}", results::pretty(results::result_file_to_json(file)));
  return exit_status(file.records);
}

/// @param rendezvous  made here where there are other ranks
int run(std::chrono::steady_clock::time_point program_began, int argc, const char* const* argv,
        const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families,
        std::unique_ptr<Rendezvous>& rendezvous) {
  const std::optional<ranks::Launch> launch = own_launch();
  if (launch) rendezvous = make_rendezvous(*launch);
  const ParsedCommandLine command = parse_command_line(argc, argv);
  if (command.help) {
    if (!launch || launch->rank == 0) std::cout << *command.help;
    return kExitOk;
  }
  Options options = command.options;
  options.launch = launch;
  if (options.worker) rendezvous.reset();  // its supervisor speaks for the rank
  if (options.worker_task == WorkerTask::kDevice) {
    refuse_gpu_without_cuda();
    return kExitOk;
  }
  if (options.worker && options.worker_task == WorkerTask::kPlugins) return run_plugin_describer(options);
  const std::vector<model::Plugin> plugins = describe_plugins(options);
  add_plugins(plugins, options);
  const std::vector<Family> families = make_families(options.sizes);
  if (options.worker) return run_worker(families, options);
  Call call{.words = {argv, argv + argc}, .arguments = {argv + 1, argv + argc}, .program_began = program_began};
  if (!plugins.empty()) {
    options.described_plugins = to_text(plugins);
    call.arguments.push_back("--tb_described_plugins=" + options.described_plugins);
  }
  return run_session(families, options, std::move(call), rendezvous.get());
}

/// Calls run(), and says on stderr what is wrong.
int run_and_explain(std::chrono::steady_clock::time_point began, int argc, const char* const* argv,
                    const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  std::unique_ptr<Rendezvous> rendezvous;
  try {
    return run(began, argc, argv, make_families, rendezvous);
  } catch (const UsageError& error) {
    if (!rendezvous || rendezvous->refuse(error.what())) std::cerr << "transformer_bench: " << error.what() << '\n';
    return kExitUsage;
  } catch (const results::WriteError& error) {
    std::cerr << "transformer_bench: " << error.what() << '\n';
    return results::kExitNotWritten;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return results::kExitNotWritten;  // which run_program() explains
    // Its worker cannot be started, say: the others would wait for it.
    if (rendezvous && !rendezvous->is_introduced() && !rendezvous->refuse(error.what())) return kExitFailedCase;
    std::cerr << "transformer_bench: " << (rendezvous ? fmt::format("rank {}: ", rendezvous->launch().rank) : "")
              << error.what() << '\n';
    return stop_signalled() ? kExitInterrupted : kExitFailedCase;
  }
}

}  // namespace

int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  const auto began = std::chrono::steady_clock::now();
  results::hold_standard_streams();
  results::survive_file_size_limit();
  const int status = run_and_explain(began, argc, argv, make_families);
  const std::optional<std::string> problem = results::flush_standard_output();
  if (!problem) return status;
  std::cerr << "transformer_bench: " << *problem << '\n';
  return status == kExitUsage ? status : results::kExitNotWritten;
}

}  // namespace tbench::bench

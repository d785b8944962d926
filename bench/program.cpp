#include "bench/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "bench/case_profile.hpp"
#include "bench/ceilings.hpp"
#include "bench/planned_cases.hpp"
#include "bench/plugins.hpp"
#include "bench/ranks/rank_meeting.hpp"
#include "bench/ranks/rank_session.hpp"
#include "bench/run_facts.hpp"
#include "bench/runners.hpp"
#include "bench/selection.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/nvml.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {
namespace {

/// Whether there is a GPU to choose the standard suite for. Asks the driver's management library, which neither makes
/// a CUDA context nor wakes a GPU.
bool has_gpu() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (std::string_view{visible}.empty() || std::string_view{visible} == "-1")) return false;
  return cuda::nvml_driver_version(cuda::load_nvml()).has_value();
}

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

/// What an earlier run left at `path`, for --tb_resume; refuses to overwrite an unfinished run without it.
std::optional<results::ResultFile> earlier_results(const Options& options) {
  if (options.out.empty()) return std::nullopt;
  results::ResultWriter::check_writable(options.out);
  if (options.resume) return results::load_for_resume(options.out);
  const std::string journal = options.out + ".journal";
  if (::access(journal.c_str(), F_OK) == 0) {
    throw UsageError{
        fmt::format("--benchmark_out={}: {} holds an unfinished run: add --tb_resume to resume it, or "
                    "delete the journal to start over",
                    options.out, journal)};
  }
  return std::nullopt;
}

/// Families whose cases each start in a fresh process, which neither repetitions nor --tb_isolate=none can give them.
/// @throws  UsageError  if the options ask for it and the cases are among the selected
std::set<std::string> always_fresh(const std::vector<Family>& families, const std::vector<CaseId>& cases,
                                   const Options& options) {
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
void check_plant(const std::optional<PlantedDelay>& plant, const std::vector<CaseId>& cases,
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
///                      --tb_trace, --tb_memory_limit, --tb_shard; if the shard is of another selection
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

/// Runs the selected cases of `families`.
/// @param arguments  the command line without the program's name, for child processes
/// @param meeting    with the other ranks, of which rank 0 alone selects, prints and writes; null: a process by itself
/// @return  exit status: 0, 1 if a case is incorrect, timed out or crashed, 130 when interrupted
/// @throws  UsageError  before any work
int run_session(const std::vector<Family>& families, const Options& options, std::vector<std::string> arguments,
                RankMeeting* meeting) {
  const bool use_gpu = options.device != DeviceChoice::kCpu && has_gpu();
  const bool leads = meeting == nullptr || meeting->leads();
  const Selection selection = select_for_launch(families, options, use_gpu);
  const std::vector<CaseId> own_cases = select_shard(selection, options.shard);
  if (options.list_only) {
    for (const CaseId& id : own_cases) {
      if (leads) fmt::print("{}\n", id.name());
    }
    return kExitOk;
  }
  if (meeting != nullptr) check_with_ranks(options);
  if (options.device == DeviceChoice::kCuda && !use_gpu) {
    throw no_cuda_device();
  }
  if (!use_gpu) refuse_gpu_options(options);
  if (!options.profile.empty()) make_profile_root(options.profile);
  const std::set<std::string> fresh_families = always_fresh(families, selection.cases, options);
  check_plant(options.plant, selection.cases, fresh_families);
  std::optional<results::ResultFile> earlier = leads ? earlier_results(options) : std::nullopt;
  catch_stop_signals();
  if (meeting != nullptr && use_gpu) show_own_gpu(meeting->launch());
  const std::vector<std::string> given_arguments = arguments;
  if (!options.suite && options.study.empty())
    arguments.push_back(fmt::format("--tb_suite={}", to_string(selection.suite)));
  Options chosen = options;
  chosen.suite = selection.suite;
  std::unique_ptr<CaseRunner> runner = make_runner(families, chosen, std::move(arguments));
  if (meeting != nullptr) {
    meeting->meet({.refusal = {}, .arguments = given_arguments, .environment = runner->environment()});
    if (!leads) return follow(*runner, *meeting, stop_signalled);
    runner = make_leading_runner(std::move(runner), *meeting, options.timeout);
  }
  const bool on_gpu = runner->environment().gpu.has_value();
  const std::set<Regime> regimes = regimes_of(specs_of(families), selection.cases);
  results::ResultFile file{.environment = runner->environment(),
                           .host = read_host_facts("transformer_bench"),
                           .options = recorded_options(options, selection, regimes, on_gpu),
                           .interrupted = false,
                           .records = {}};
  if (earlier) {
    results::check_resumable(options.out, *earlier, file.environment);
    check_same_options(options.out, *earlier, file.options);
    file.records = std::move(earlier->records);
  }
  MeasuredCeilings ceilings{families};
  for (const Record& record : file.records) ceilings.learn(record, process_of(record, options.processes));
  const bool with_ceilings = runs_ceilings(options.ceilings, on_gpu, selection.suite);
  std::vector<PlannedCase> plan =
      plan_runs(selection.cases, options.processes, options.order_seed.value_or(options.seed));
  drop_finished(plan, file.records, options.processes);
  std::set<std::string> of_this_run = names_of(own_cases);
  put_ceilings_first(plan, [&](std::span<const CaseId> cases) {
    std::vector<CaseId> needed = with_ceilings ? ceilings_of(families, cases, on_gpu) : std::vector<CaseId>{};
    of_this_run.merge(names_of(needed));
    return needed;
  });
  keep_cases(plan, of_this_run);
  drop_finished(plan, file.records, options.processes);
  isolate(plan, fresh_families);
  if (on_gpu && options.isolation != Isolation::kNone) isolate_graphs(plan);
  if (options.isolation != Isolation::kNone) put_plugins_last(plan);
  std::optional<results::ResultWriter> writer;
  if (!options.out.empty()) writer.emplace(options.out, file);
  const std::vector<Record> records = run_cases(plan, *runner, ceilings, options, writer ? &*writer : nullptr);
  warn_of_missing(records, "trace", "--tb_trace", "have their times alone");
  warn_of_missing(records, "profile", "--tb_profile", "have no files");
  file.records.insert(file.records.end(), records.begin(), records.end());
  file.interrupted = stop_signalled();
  if (options.json_on_stdout) fmt::print("{}", results::pretty(results::result_file_to_json(file)));
  return exit_status(file.records);
}

/// @param meeting  made here where there are other ranks
int run(int argc, const char* const* argv,
        const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families,
        std::unique_ptr<RankMeeting>& meeting) {
  const std::optional<ranks::Launch> launch = own_launch();
  if (launch) meeting = make_meeting(*launch);
  const ParsedCommandLine command = parse_command_line(argc, argv);
  if (command.help) {
    if (!launch || launch->rank == 0) std::cout << *command.help;
    return kExitOk;
  }
  Options options = command.options;
  options.launch = launch;
  if (options.worker) meeting.reset();  // its supervisor speaks for the rank
  if (options.worker && options.worker_task == WorkerTask::kPlugins) return run_plugin_describer(options);
  const std::vector<model::Plugin> plugins = describe_plugins(options);
  add_plugins(plugins, options);
  const std::vector<Family> families = make_families(options.sizes);
  if (options.worker) return run_worker(families, options);
  std::vector<std::string> arguments{argv + 1, argv + argc};
  if (!plugins.empty()) {
    options.described_plugins = to_text(plugins);
    arguments.push_back("--tb_described_plugins=" + options.described_plugins);
  }
  return run_session(families, options, std::move(arguments), meeting.get());
}

}  // namespace

int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  std::unique_ptr<RankMeeting> meeting;
  try {
    return run(argc, argv, make_families, meeting);
  } catch (const UsageError& error) {
    if (!meeting || meeting->refuse(error.what())) std::cerr << "transformer_bench: " << error.what() << '\n';
    return kExitUsage;
  } catch (const std::exception& error) {
    // Its worker cannot be started, say: the others would wait for it.
    if (meeting && !meeting->is_introduced() && !meeting->refuse(error.what())) return kExitFailedCase;
    std::cerr << "transformer_bench: " << (meeting ? fmt::format("rank {}: ", meeting->launch().rank) : "")
              << error.what() << '\n';
    return kExitFailedCase;
  }
}

}  // namespace tbench::bench

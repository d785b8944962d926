#include "bench/session/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bench/plan/ceilings.hpp"
#include "bench/run/case_profile.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/session/rank_session.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

/// Returns the families whose cases each start in a new process, which excludes repetitions and --tb_isolate=none.
/// @throws  UsageError  if the options ask for either and such cases are selected
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

/// Checks the case that --tb_plant slows down.
/// @throws  UsageError  if the case is not measured, or if its first steps are timed, from which the length of the
///                      delay would have to be derived
void check_plant(const std::optional<InjectedDelay>& plant, const std::vector<CaseId>& cases,
                 const std::set<std::string>& fresh_families) {
  if (!plant) return;
  const auto is_delayed = [&](const CaseId& id) { return id.name() == plant->name; };
  if (std::ranges::none_of(cases, is_delayed)) {
    throw UsageError{fmt::format("--tb_plant: '{}' is not among the selected cases; --benchmark_list_tests lists them",
                                 plant->name)};
  }
  if (fresh_families.contains(CaseId::parse(plant->name).family())) {
    throw UsageError{
        fmt::format("--tb_plant: {} is about the first steps of a process; give another case", plant->name)};
  }
}

/// Checks the options against the selected cases.
/// @throws  UsageError  if they exclude each other
void check(Request& request) {
  const Options& options = request.options;
  if (request.ranks != nullptr) check_with_ranks(options);
  if (options.device == DeviceChoice::kCuda && !request.gpu) throw no_cuda_device();
  if (!request.gpu) refuse_gpu_options(options);
  if (!options.profile.empty()) request.profile_root = take_profile_root(options.profile);
  request.families_needing_new_process =
      families_needing_new_process(request.families, request.selection.cases, options);
  check_plant(options.plant, request.selection.cases, request.families_needing_new_process);
}

}  // namespace

std::set<std::string> names_of(std::span<const CaseId> cases) {
  std::set<std::string> names;
  for (const CaseId& id : cases) names.insert(id.name());
  return names;
}

const RunDurations* Request::durations_here() const {
  return durations && (gpu || options.list_only || durations->is_given) ? &*durations : nullptr;
}

bool Request::runs_ceilings(bool on_gpu) const {
  if (options.ceilings == CeilingChoice::kAuto) return on_gpu && selection.suite != Suite::kSmoke;
  return options.ceilings == CeilingChoice::kOn;
}

Request resolve(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* ranks,
                const std::optional<std::string>& gpu) {
  Request request{.families = families,
                  .options = options,
                  .call = std::move(call),
                  .ranks = ranks,
                  .gpu = gpu,
                  .selection = select_for_launch(families, options, gpu.has_value())};
  if (!gpu) leave_out_gpu_cases(request.selection, families, options);
  request.durations = choose_durations(options, request.selection.suite, gpu);
  if (options.shard && request.durations) {
    request.places = shard_places(request.selection, *options.shard, request.durations->table);
  }
  request.own_cases = select_shard(request.selection, options.shard, request.places);
  if (request.durations && request.is_coordinator()) {
    if (const auto note = mismatch_note(options, *request.durations)) {
      fmt::print(stderr, "transformer_bench: {}\n", *note);
    }
  }
  if (!options.list_only) check(request);
  return request;
}

PlanInput plan_input(const Request& request, bool on_gpu, std::span<const Record> finished, std::int64_t machine) {
  const Options& options = request.options;
  const bool may_start_processes = options.isolation != Isolation::kNone;
  PlanInput input{.cases = request.selection.cases,
                  .own_cases = names_of(request.own_cases),
                  .processes = options.processes,
                  .order_seed = options.order_seed.value_or(options.seed),
                  .finished = finished_runs(finished, options.processes),
                  .foreign_ceilings = foreign_ceilings(finished, options.processes, machine),
                  .needed_ceilings = {},
                  .families_needing_new_process = request.families_needing_new_process,
                  .isolates_graphs = on_gpu && may_start_processes,
                  .isolates_plugins = may_start_processes};
  if (request.runs_ceilings(on_gpu)) {
    input.needed_ceilings = [&request, on_gpu](std::span<const CaseId> cases) {
      return ceilings_of(request.families, cases, request.selection.ceilings, on_gpu);
    };
  }
  return input;
}

void list_cases(const Request& request) {
  for (const CaseId& id : request.own_cases) fmt::print("{}\n", id.name());
  const RunDurations* const durations = request.durations_here();
  const bool for_gpu = request.gpu || (durations != nullptr && !durations->is_given);
  const RunPlan plan = make_run_plan(plan_input(request, for_gpu, {}));
  fmt::print(stderr, "{}\n", plan_text(plan, names_of(request.own_cases), durations));
  say_what_is_left_out(request.selection, stderr);
}

}  // namespace tbench::bench

// The cases that a command line asks for, and their durations: everything that can be determined, and refused, before a
// process starts.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"
#include "bench/plan/durations.hpp"
#include "bench/plan/run_plan.hpp"
#include "bench/plan/selection.hpp"
#include "bench/run/rendezvous.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/process/descriptor.hpp"

namespace tbench::bench {

/// The user's call of the program, and its time.
struct Call {
  std::vector<std::string> words;                       // program and arguments as the user gave them
  std::vector<std::string> arguments;                   // for child processes, without the program's name
  std::chrono::steady_clock::time_point program_began;  // time from which --tb_stop_after counts
};

struct Request {
  const std::vector<Family>& families;
  Options options;
  Call call;
  Rendezvous* ranks{};  // the other ranks; only the coordinator prints and writes; null for a single process
  std::optional<std::string> gpu{};  // GPU model that runs the cases; absent if they run on the CPU
  Selection selection;
  std::optional<RunDurations> durations{};
  std::optional<Places> places{};   // places of the shard if durations decide
  std::vector<CaseId> own_cases{};  // cases of the shard
  std::set<std::string> families_needing_new_process{};
  process::UniqueDescriptor profile_root{};  // lock of the folder of --tb_profile; none without the option

  /// Whether this process selects, prints and writes.
  [[nodiscard]] bool is_coordinator() const { return ranks == nullptr || ranks->is_coordinator(); }
  /// Returns the durations for the device that runs the cases; null if unknown. A GPU's table does not apply to a CPU,
  /// unless the user gave the table or the cases are only listed.
  [[nodiscard]] const RunDurations* durations_here() const;
  [[nodiscard]] bool runs_ceilings(bool on_gpu) const;
};

/// Resolves the command line to a request. Prints a note on stderr if the table of --tb_durations is of another GPU.
/// @param families  families that outlive the request; so must `ranks`
/// @param gpu       the GPU model present; nullopt if there is none, or if it is not used
/// @throws          UsageError  for every error that can be found before a process starts; with --benchmark_list_tests
///                              only if no case is selected
[[nodiscard]] Request resolve(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* ranks,
                              const std::optional<std::string>& gpu);

/// Returns the input of make_run_plan().
/// @param on_gpu    whether the cases run on a GPU
/// @param finished  records of an earlier run
/// @param machine   this machine's index among the machines that measured `finished`
[[nodiscard]] PlanInput plan_input(const Request& request, bool on_gpu, std::span<const Record> finished,
                                   std::int64_t machine = 0);

/// Prints only the names of the cases on stdout, for use in pipes, and their total duration on stderr.
void list_cases(const Request& request);

[[nodiscard]] std::set<std::string> names_of(std::span<const CaseId> cases);

}  // namespace tbench::bench

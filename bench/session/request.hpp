// The cases that a command line asks for, and the durations by which they are planned: everything that is known, and
// refused, before a process is started.
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

namespace tbench::bench {

/// How the program was called, and when.
struct Call {
  std::vector<std::string> words;                       // program and arguments, as the user gave them
  std::vector<std::string> arguments;                   // for child processes, without the program's name
  std::chrono::steady_clock::time_point program_began;  // what --tb_stop_after counts from
};

struct Request {
  const std::vector<Family>& families;
  Options options;
  Call call;
  Rendezvous* ranks{};  // of all ranks, of which the coordinator alone prints and writes; null: one process
  std::optional<std::string> gpu{};  // the model that the cases run on; absent: they run on the CPU
  Selection selection;
  std::optional<RunDurations> durations{};
  std::optional<Places> places{};   // of the shard, where durations decide
  std::vector<CaseId> own_cases{};  // of the shard
  std::set<std::string> families_needing_new_process{};

  /// Whether this process selects, prints and writes.
  [[nodiscard]] bool is_coordinator() const { return ranks == nullptr || ranks->is_coordinator(); }
  /// The durations of where the cases run; null: none are known. A table of a GPU says nothing of a CPU, unless the
  /// user gave it, or the cases are only listed.
  [[nodiscard]] const RunDurations* durations_here() const;
  [[nodiscard]] bool runs_ceilings(bool on_gpu) const;
};

/// Resolves the command line to a request. Says on stderr if the table of --tb_durations is of another GPU.
/// @param families  outlives the request, as `ranks` does
/// @param gpu       the model present; absent: none, or not to be used
/// @throws          UsageError  for all that can be refused before a process starts; of a list (--benchmark_list_tests)
///                              only that no case is selected
[[nodiscard]] Request resolve(const std::vector<Family>& families, const Options& options, Call call, Rendezvous* ranks,
                              const std::optional<std::string>& gpu);

/// Returns the input of make_run_plan().
/// @param on_gpu    whether the cases run on a GPU
/// @param finished  records of an earlier run
[[nodiscard]] PlanInput plan_input(const Request& request, bool on_gpu, std::span<const Record> finished);

/// Prints the names of the cases on stdout, alone, so that pipes see nothing else, and what they take together on
/// stderr.
void list_cases(const Request& request);

[[nodiscard]] std::set<std::string> names_of(std::span<const CaseId> cases);

}  // namespace tbench::bench

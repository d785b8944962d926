// Selects the cases that a command line asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"
#include "bench/plan/study_cases.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/run_order.hpp"

namespace tbench::bench {

struct Selection {
  Suite suite{};
  std::vector<CaseId> cases;       // never empty
  StudyProtocols protocols{};      // of the cases of a study; empty for a suite
  std::vector<CaseId> ceilings{};  // ceilings that the study's tables need beside its cases
  std::size_t by_name_only{};      // matching cases of the suite's tables that run only if named
  std::size_t need_gpu{};          // matching cases that need a GPU
  std::size_t need_packages{};     // matching cases without the package of their compiled graph
};

/// Whether the case's family is one of `families` and times bursts.
[[nodiscard]] bool is_burst(std::span<const FamilySpec> families, const CaseId& id);

/// Expands the study or the suite (by default standard with a GPU, smoke without) and filters its cases by name. Cases
/// that bench/retired.txt excludes from the suite are still selected in two situations: all cases of a family with an
/// axis that the user gives, and any case if the filter matches no other. A study's cases are sampled like cases of the
/// standard suite. With --tb_l2=warm the names of bursts end in l2:warm, except in families whose cases fix their own
/// L2 state; the default state appears in no name.
/// @throws  UsageError  if no case is left, naming the suites in which the filter has matches; also as expand() does
[[nodiscard]] Selection select_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu);

/// Returns the cases of this run from select_cases(): the cases that span ranks if a launcher started the program, and
/// all others if none did.
/// @throws  UsageError  as select_cases(); it says so if the cases would be found with, or without, a launcher
[[nodiscard]] Selection select_for_launch(const std::vector<Family>& families, const Options& options, bool has_gpu);

/// Removes the cases that cannot run on a CPU from a smoke suite, and counts them. A selection of only such cases stays
/// as it is, so that each case reports why it cannot run. A selection with plug-ins stays, too, because plug-in code
/// runs only in child processes.
void leave_out_gpu_cases(Selection& selection, const std::vector<Family>& families, const Options& options);

/// Prints one line for each reason for which cases of the suite's tables are not selected.
void say_what_is_left_out(const Selection& selection, std::FILE* to);

/// Returns the cases that --tb_shard keeps of the selection, in its order.
/// @param places  positions of the shard's cases if durations decide; if absent, each shard gets one of every N
///                consecutive cases
/// @throws        UsageError  if the shard has no cases
[[nodiscard]] std::vector<CaseId> select_shard(const Selection& selection, const std::optional<Shard>& shard,
                                               const std::optional<Places>& places = std::nullopt);

/// Returns the number of cases that are divided among the shards: all except ceilings.
[[nodiscard]] std::int64_t shared_cases(const Selection& selection);

}  // namespace tbench::bench

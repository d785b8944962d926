// The cases that a command line means.
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
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/run_order.hpp"

namespace tbench::bench {

struct Selection {
  Suite suite{};
  std::vector<CaseId> cases;    // never empty
  std::size_t by_name_only{};   // others of the suite's tables that match, but run only where they are asked for
  std::size_t need_gpu{};       // others that match, and that a CPU cannot run
  std::size_t need_packages{};  // others that match, and lack the package of their compiled graph
};

/// Whether the case's family is one of `families` and times bursts.
[[nodiscard]] bool is_burst(std::span<const FamilySpec> families, const CaseId& id);

/// Expands the suite (without --tb_suite: standard with a GPU, smoke without), or the study, and filters it by name.
/// Some cases that bench/retired.txt takes out of the suite are selected all the same: the cases of a family with an
/// axis that the user gives, and any others where the filter matches nothing else. A study's cases are sampled like
/// cases of the standard suite. With --tb_l2=warm the names of bursts end in l2:warm, except in families whose cases
/// each fix their own L2 state; the default appears in no name.
/// @throws  UsageError  if nothing is left, naming the suites in which the filter has matches; as expand() does
[[nodiscard]] Selection select_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu);

/// The cases of this run as select_cases() finds them: under a launcher those that span ranks, else all others.
/// @throws  UsageError  as select_cases(); where they would be found with or without a launcher, it says so
[[nodiscard]] Selection select_for_launch(const std::vector<Family>& families, const Options& options, bool has_gpu);

/// Takes the cases that cannot run on a CPU out of a smoke suite, and counts them. Leaves a selection of nothing else
/// as it is: each case then says why it cannot run. Leaves one with plug-ins as it is, too: their code runs in children
/// alone.
void leave_out_gpu_cases(Selection& selection, const std::vector<Family>& families, const Options& options);

/// One line for each kind of case that is not selected, though the suite's tables hold it.
void say_what_is_left_out(const Selection& selection, std::FILE* to);

/// Returns the cases that --tb_shard leaves of the selection, in its order.
/// @param places  of the shard, where durations decide; absent: every so many places
/// @throws        UsageError  if that is nothing
[[nodiscard]] std::vector<CaseId> select_shard(const Selection& selection, const std::optional<Shard>& shard,
                                               const std::optional<Places>& places = std::nullopt);

/// How many of the cases shards have one each of: all but ceilings.
[[nodiscard]] std::int64_t shared_cases(const Selection& selection);

}  // namespace tbench::bench

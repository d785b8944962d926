// Which cases a command line means.
#pragma once

#include <span>
#include <vector>

#include "options.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"

namespace tbench::bench {

struct Selection {
  Suite suite{};
  std::vector<CaseId> cases;  // never empty
};

/// Whether the case's family is one of `families` and times bursts.
[[nodiscard]] bool is_burst(std::span<const FamilySpec> families, const CaseId& id);

/// Expands the suite (without --tb_suite: standard with a GPU, smoke without), or the study, and filters it by name. A
/// study's cases are sampled as those of the standard suite. With --tb_l2=warm the names of bursts end in l2:warm,
/// but for families of which each case has a state of its own; the default is in no name.
/// @throws  UsageError  if nothing is left, naming the suites in which the filter has matches; as expand() does
[[nodiscard]] Selection select_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu);

}  // namespace tbench::bench

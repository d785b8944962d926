// A family of cases that span ranks, with a fault on one of the ranks.
#pragma once

#include "bench/families/family.hpp"

namespace tbench::bench {

/// `PlantedRanks/fault:F/on:R/gpus:N`: `none` succeeds. The others fail on rank R as their names say, before or after
/// some steps. Steps take longer on higher ranks and vary there. A rank that runs a different number of steps from the
/// others is `incorrect`.
[[nodiscard]] Family planted_ranks_family();

}  // namespace tbench::bench

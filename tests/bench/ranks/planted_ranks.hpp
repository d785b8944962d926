// A family of the tests that spans ranks: faults on one of them.
#pragma once

#include "bench/families/family.hpp"

namespace tbench::bench {

/// `PlantedRanks/fault:F/on:R/gpus:N`: `none` succeeds; the others fail on rank R as their names say, after some steps
/// or before. Steps take longer on higher ranks and vary there; whoever makes another number of them than the others is
/// `incorrect`.
[[nodiscard]] Family planted_ranks_family();

}  // namespace tbench::bench

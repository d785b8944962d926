// Families to run the whole program against: cases that go wrong in every way that a case can, and kernels of known
// time.
#pragma once

#include "bench/family.hpp"

namespace tbench::bench {

/// `Planted/fault:F/index:I`: `none` succeeds (a few milliseconds a step); the others fail as their names say.
[[nodiscard]] Family planted_family();
/// Right cases of 3 steps after 2, each in a process of its own: `Fresh/fault:none/index:{1,2,3}` in the standard
/// suite.
[[nodiscard]] Family planted_fresh_family();

/// `PlantedKernel/us:N`: a kernel that takes N microseconds, timed in bursts. In the standard suite alone.
[[nodiscard]] Family planted_kernel_family();

}  // namespace tbench::bench

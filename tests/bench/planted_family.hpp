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

/// `Ceiling/what:{copy,gemm_fp32}/regime:R`: 10^6 bytes or FLOP in 100 us; copy in bursts alone. In the standard suite.
[[nodiscard]] Family planted_ceiling_family();
/// `Held/against:{copy,gemm_fp32,nothing}/regime:R`: a quarter of that ceiling's rate. In the standard suite.
[[nodiscard]] Family planted_held_family();

}  // namespace tbench::bench

// Resources of a CTA, computed the same way for all sm90 kernels: registers per warpgroup, and barriers and alignment
// in shared memory.
#pragma once

namespace tbench::kernels::sm90 {

constexpr int kWgmmaM = 64;  // rows per warpgroup: M of wgmma
constexpr int kGroupThreads = 128;

constexpr int kBarrierBytes = 256;
constexpr int kSharedAlignment = 1024;

/// Whether setmaxnreg can provide the registers of `consumers` consumer warpgroups and a producer warpgroup. At launch
/// each thread has an equal share of the 64 Ki registers, rounded down to a multiple of eight; setmaxnreg redistributes
/// these registers. A warpgroup that asks for more registers than are left blocks for ever.
[[nodiscard]] constexpr bool fits_registers(int consumers, int consumer_registers, int producer_registers) {
  constexpr int kRegisters = 65536, kUnit = 8;
  const int groups = consumers + 1;
  const int at_launch = kRegisters / (groups * kGroupThreads) / kUnit * kUnit;
  return consumers * consumer_registers + producer_registers <= groups * at_launch;
}

}  // namespace tbench::kernels::sm90

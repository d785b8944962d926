// Arithmetic of a CTA's resources that all sm90 kernels share: registers by warpgroup, barriers and the alignment of
// shared memory.
#pragma once

namespace tbench::kernels::sm90 {

constexpr int kWgmmaM = 64;  // rows per warpgroup: M of wgmma
constexpr int kGroupThreads = 128;

constexpr int kBarrierBytes = 256;
constexpr int kSharedAlignment = 1024;

/// Whether setmaxnreg can provide the registers of `consumers` consumer warpgroups and a producer warpgroup. A CTA
/// starts with as many registers per thread as 64 Ki allow, in multiples of eight, and setmaxnreg redistributes these.
/// A warpgroup that asks for more blocks for ever.
[[nodiscard]] constexpr bool fits_registers(int consumers, int consumer_registers, int producer_registers) {
  constexpr int kRegisters = 65536, kUnit = 8;
  const int groups = consumers + 1;
  const int at_launch = kRegisters / (groups * kGroupThreads) / kUnit * kUnit;
  return consumers * consumer_registers + producer_registers <= groups * at_launch;
}

}  // namespace tbench::kernels::sm90

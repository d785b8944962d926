// Checks that an SM holds as many CTAs as a tile of the float32 kernels promises.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

namespace tbench::kernels::sm80 {

inline constexpr std::size_t kSharedBytesOfMultiprocessor =
    std::size_t{228} << 10;  // compute capability 9.0; both from CUDA's programming guide
inline constexpr std::size_t kReservedBytesOfBlock = std::size_t{1} << 10;
inline constexpr std::size_t kRegistersOfMultiprocessor = 65536;

/// A thread can have 255 registers. It has fewer only if an SM holds more than two CTAs of 128 threads.
inline constexpr std::size_t kMinRegisters = 168;

template <class Tile>
void expect_resident(const Tile& tile, std::size_t shared_bytes, std::size_t min_registers = kMinRegisters) {
  const auto blocks = static_cast<std::size_t>(tile.blocks_per_multiprocessor);
  EXPECT_LE(blocks * (shared_bytes + kReservedBytesOfBlock), kSharedBytesOfMultiprocessor);
  EXPECT_GE(kRegistersOfMultiprocessor / (blocks * static_cast<std::size_t>(tile.warps) * 32), min_registers);
}

}  // namespace tbench::kernels::sm80

// Counter-based random numbers: each number depends only on its index and the key.
#pragma once

#include <cstdint>

namespace tbench::kernels {

struct Words {
  std::uint32_t x, y, z, w;
};

/// Returns four random words: Philox4x32 with seven rounds, which passes BigCrush.
/// @see  Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011)
__host__ __device__ inline Words philox(Words counter, std::uint64_t key) {
  constexpr int kRounds = 7;
  auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter.x, b = std::uint64_t{0xCD9E8D57U} * counter.z;
    counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter.y ^ low, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32U) ^ counter.w ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9E3779B9U;
    high += 0xBB67AE85U;
  }
  return counter;
}

/// Returns the four random words number `group` of sequence `part`.
__host__ __device__ inline Words words_at(std::uint64_t key, std::uint64_t group, std::uint32_t part) {
  return philox({static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32U), part, 0U}, key);
}

}  // namespace tbench::kernels

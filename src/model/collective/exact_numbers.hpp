// The numbers that ranks bring to an exchange whose sums are verified exactly.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tbench::model {

/// Whole numbers up to this are exact: 2^(significand bits), the hidden one counted.
inline constexpr std::int64_t kExactFp32 = std::int64_t{1} << 24;
inline constexpr std::int64_t kExactBf16 = std::int64_t{1} << 8;
/// Inputs are at most this large; the other numbers of fp32 are then as far from their neighbours.
inline constexpr std::int64_t kLargestInput = 127;

/// Whole numbers from -largest to largest.
struct ExactNumbers {
  at::TensorOptions options;  // dtype, in which `largest` times the ranks is exact, and device
  std::int64_t largest{};     // > 0
};

/// Elements [begin, begin + count) of what `rank` brings: Knuth's multiplicative hash of an index that no two ranks and
/// seeds share nearby, folded.
[[nodiscard]] at::Tensor exact_numbers(const ExactNumbers& of, int rank, std::uint64_t seed, std::int64_t begin,
                                       std::int64_t count);

}  // namespace tbench::model

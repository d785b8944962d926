// The numbers that ranks contribute to an exchange whose sums are verified exactly.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tbench::model {

/// The largest number up to which all whole numbers are exact: 2^(significand bits), including the hidden bit.
inline constexpr std::int64_t kExactFp32 = std::int64_t{1} << 24;
inline constexpr std::int64_t kExactBf16 = std::int64_t{1} << 8;
/// Inputs are at most this large; the other numbers of fp32 are then as far from their neighbours.
inline constexpr std::int64_t kLargestInput = 127;

/// Whole numbers from -largest to largest.
struct ExactNumbers {
  at::TensorOptions options;  // dtype, in which `largest` times the ranks is exact, and device
  std::int64_t largest{};     // > 0
};

/// Returns elements [begin, begin + count) of the numbers that `rank` contributes: Knuth's multiplicative hash, folded,
/// of an index that differs between ranks and between nearby seeds.
[[nodiscard]] at::Tensor exact_numbers(const ExactNumbers& of, int rank, std::uint64_t seed, std::int64_t begin,
                                       std::int64_t count);

}  // namespace tbench::model

// Integer division by a number known before the launch, with one multiplication and one shift. The compiler's division
// takes some 25 dependent instructions, which delay a work tile's first copy by a hundred cycles.
#pragma once

#include <bit>
#include <cstdint>

namespace tbench::kernels::sm90 {

/// A divisor with its precomputed multiplier.
/// @see  Granlund, Montgomery, Division by Invariant Integers using Multiplication, section 4
struct FastDivmod {
  int value{};
  std::uint32_t multiplier{};  // 2^(31 + shift) / value, rounded up
  int shift{};                 // value <= 2^shift
};
/// Precomputes the multiplier of a divisor.
/// @param value  at least 1
[[nodiscard]] constexpr FastDivmod make_fast_divmod(int value) {
  const auto shift = static_cast<int>(std::bit_width(static_cast<unsigned>(value - 1)));
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t multiplier = ((std::uint64_t{1} << (31 + shift)) + wide - 1) / wide;
  return {.value = value, .multiplier = static_cast<std::uint32_t>(multiplier), .shift = shift};
}

/// Returns number / by, rounded down.
/// @param number  the dividend, at least 0
[[nodiscard]] constexpr int divide(int number, const FastDivmod& by) {
  const std::uint64_t twice = static_cast<std::uint32_t>(number) * 2u;
  return static_cast<int>(static_cast<std::uint32_t>(twice * by.multiplier >> 32) >> by.shift);
}

}  // namespace tbench::kernels::sm90

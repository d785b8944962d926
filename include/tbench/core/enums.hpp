// Enumerations whose values have names: the names are given once, and to_string, parse_enum and the list of all values
// follow from them. The enumerations of a case are here, too: how it ended, how it is timed, what it computes in.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench {

/// Specialised beside each enumeration: `static constexpr std::array<std::string_view, N> kNames`, in the enumerators'
/// order, whose values are 0 to N - 1.
template <class Enum>
struct EnumNames;

template <class Enum>
concept NamedEnum = requires {
  EnumNames<Enum>::kNames.size();
};

/// @throws  std::out_of_range  for a value without a name
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  return EnumNames<Enum>::kNames.at(static_cast<std::size_t>(value));
}

/// The value whose name is exactly `text`, or nothing.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> parse_enum(std::string_view text) {
  const auto& names = EnumNames<Enum>::kNames;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// All values, in order.
template <NamedEnum Enum>
inline constexpr auto kAllOf = [] {
  std::array<Enum, EnumNames<Enum>::kNames.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Enum>(i);
  return values;
}();

/// How a case ended.
enum class Status { kOk, kOom, kUnsupported, kIncorrect, kUnstable, kThrottled, kTimeout, kCrashed };

template <>
struct EnumNames<Status> {
  static constexpr std::array<std::string_view, 8> kNames{"ok",       "oom",       "unsupported", "incorrect",
                                                          "unstable", "throttled", "timeout",     "crashed"};
};

/// Whether a case of this status has a time: `ok`, and `unstable` and `throttled`, whose time is marked as such.
[[nodiscard]] constexpr bool has_time(Status status) {
  return status == Status::kOk || status == Status::kUnstable || status == Status::kThrottled;
}
/// Whether a case of this status makes the whole run fail: `incorrect`, `timeout`, `crashed`.
[[nodiscard]] constexpr bool is_failure(Status status) {
  return status == Status::kIncorrect || status == Status::kTimeout || status == Status::kCrashed;
}

/// The two ways in which work is timed. `kSustained`: steps back to back, events chained between them; for steps of a
/// model, 1 ms to seconds. `kBurst`: one launch or a few between two events, behind a kernel that hides the launch,
/// with gaps between samples; for kernels, 5 us to 50 ms.
enum class Regime { kSustained, kBurst };

template <>
struct EnumNames<Regime> {
  static constexpr std::array<std::string_view, 2> kNames{"sustained", "burst"};
};

/// The state of the L2 cache that the kernel of a burst meets: `kCold` where the cache is flushed before every launch,
/// `kWarm` where it holds what the launch before left in it.
enum class L2State { kCold, kWarm };

template <>
struct EnumNames<L2State> {
  static constexpr std::array<std::string_view, 2> kNames{"cold", "warm"};
};

/// How a step reaches the GPU: operation by operation on a stream, or as CUDA graphs, one per phase.
enum class Execution { kStream, kGraph };

template <>
struct EnumNames<Execution> {
  static constexpr std::array<std::string_view, 2> kNames{"stream", "graph"};
};

/// The arithmetic a case computes in. `fp32` has TF32 off; `tf32` is float32 storage with TF32 matrix products. `bf16`
/// and `fp16` of a model are autocast over float32 parameters (fp16 with loss scaling in the training step); of a
/// single kernel they are the storage type.
enum class Precision { kFp32, kTf32, kBf16, kFp16 };

template <>
struct EnumNames<Precision> {
  static constexpr std::array<std::string_view, 4> kNames{"fp32", "tf32", "bf16", "fp16"};
};

/// Unit round-off of the matrix products' inputs (2^-24, 2^-11, 2^-8, 2^-11): half the gap between 1 and the next
/// number.
[[nodiscard]] constexpr double unit_roundoff(Precision precision) {
  // 2^-(significand bits + 1), the hidden bit not counted: 23, 10, 7, 10
  constexpr std::array kRoundoffs{0x1p-24, 0x1p-11, 0x1p-8, 0x1p-11};
  return kRoundoffs.at(static_cast<std::size_t>(precision));
}

}  // namespace tbench

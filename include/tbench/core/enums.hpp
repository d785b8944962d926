// Enumerations with named values: to_string, parse_enum and the list of all values follow from one table of names. Also
// the enumerations that describe a case: its status, its timing and its precision.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench {

/// The names of an enumeration's values. Each enumeration specialises it with
/// `static constexpr std::array<std::string_view, N> kNames`, in the order of the enumerators, whose values are 0 to
/// N - 1.
template <class Enum>
struct EnumNames;

template <class Enum>
concept NamedEnum = requires {
  EnumNames<Enum>::kNames.size();
};

/// Returns the name of a value.
/// @throws  std::out_of_range  for a value without a name
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  return EnumNames<Enum>::kNames.at(static_cast<std::size_t>(value));
}

/// Returns the value whose name is exactly `text`, or nullopt if there is none.
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

/// Returns whether a case of this status has a time: `ok`, `unstable` and `throttled` do.
[[nodiscard]] constexpr bool has_time(Status status) {
  return status == Status::kOk || status == Status::kUnstable || status == Status::kThrottled;
}
/// Returns whether a case of this status makes the whole run fail: `incorrect`, `timeout` and `crashed` do.
[[nodiscard]] constexpr bool is_failure(Status status) {
  return status == Status::kIncorrect || status == Status::kTimeout || status == Status::kCrashed;
}

/// The two ways in which work is timed. `kSustained` runs steps back to back with an event between every two steps; it
/// suits steps of a model, 1 ms to seconds. `kBurst` puts one or a few launches between two events, after a kernel that
/// hides the launch, with gaps between samples; it suits kernels, 5 us to 50 ms.
enum class Regime { kSustained, kBurst };

template <>
struct EnumNames<Regime> {
  static constexpr std::array<std::string_view, 2> kNames{"sustained", "burst"};
};

/// The state of the L2 cache at the start of a burst's kernel: `kCold` if the cache is flushed before every launch,
/// `kWarm` if it still holds the data of the previous launch.
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

/// The arithmetic of a case. `fp32` has TF32 off; `tf32` is float32 storage with TF32 matrix products. For a model,
/// `bf16` and `fp16` mean autocast over float32 parameters (fp16 with loss scaling in the training step); for a single
/// kernel they are the storage type.
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

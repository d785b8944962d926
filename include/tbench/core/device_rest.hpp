// How long a device rests between bursts, so that a burst's time does not depend on the one before.
#pragma once

#include "tbench/core/units.hpp"

namespace tbench {

/// The longest sample that gets its whole rest: more would take longer than anybody waits.
inline constexpr Seconds kLongestRestedSample{0.25};

/// Rests are this many times as long as what came before them. Launch upon launch, large ones run into the power limit:
/// an H200 that rested 5 ms after each 75 ms (a duty of 94 %) ran at 1,500 of 1,980 MHz.
inline constexpr double kRestFactor = 3.0;

/// Whether a sample of this length gets its whole rest. A longer one runs at a duty above a quarter, and is compared
/// with what the device sustains.
[[nodiscard]] constexpr bool is_rested_after(Seconds busy) { return busy <= kLongestRestedSample; }

/// How long a device rests after it was busy with a sample.
[[nodiscard]] constexpr Seconds rest_after(Seconds busy) {
  return (is_rested_after(busy) ? busy : kLongestRestedSample) * kRestFactor;
}

}  // namespace tbench

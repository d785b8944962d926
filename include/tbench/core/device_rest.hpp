// The pause that a device gets between measurements of short work.
#pragma once

#include "tbench/core/units.hpp"

namespace tbench {

/// How long a device rests after it was busy with a sample: three times as long, at most 5 ms. Launch upon launch,
/// large ones would run into the power limit, and their times would be those of whatever ran before.
[[nodiscard]] constexpr Seconds rest_after(Seconds busy) {
  constexpr Seconds kLongestRest{5e-3};
  const Seconds rest = busy * 3.0;
  return rest < kLongestRest ? rest : kLongestRest;
}

}  // namespace tbench

#include "tbench/core/regime.hpp"

namespace tbench {

std::string_view to_string(Regime regime) { return regime == Regime::kBurst ? "burst" : "sustained"; }

std::optional<Regime> parse_regime(std::string_view text) {
  for (const Regime regime : {Regime::kSustained, Regime::kBurst}) {
    if (to_string(regime) == text) return regime;
  }
  return std::nullopt;
}

std::string_view to_string(L2State state) { return state == L2State::kWarm ? "warm" : "cold"; }

std::optional<L2State> parse_l2_state(std::string_view text) {
  for (const L2State state : {L2State::kCold, L2State::kWarm}) {
    if (to_string(state) == text) return state;
  }
  return std::nullopt;
}

}  // namespace tbench

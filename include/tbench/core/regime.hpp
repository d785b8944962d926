// The two ways in which work is timed, and the state of the L2 cache that a timed kernel meets.
#pragma once

#include <optional>
#include <string_view>

namespace tbench {

/// `kSustained`: steps back to back, events chained between them; for steps of a model, 1 ms to seconds.
/// `kBurst`: one launch or a few between two events, behind a kernel that hides the launch, with gaps between samples;
/// for kernels, 5 us to 50 ms.
enum class Regime { kSustained, kBurst };
[[nodiscard]] std::string_view to_string(Regime regime);
[[nodiscard]] std::optional<Regime> parse_regime(std::string_view text);

/// Of a burst: `kCold` where the cache is flushed before every launch, `kWarm` where it holds what the launch before
/// left in it.
enum class L2State { kCold, kWarm };
[[nodiscard]] std::string_view to_string(L2State state);
[[nodiscard]] std::optional<L2State> parse_l2_state(std::string_view text);

}  // namespace tbench

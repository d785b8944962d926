// A slowdown of known size in one case (`--tb_plant=NAME:SHARE`), which a working gate has to report.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::bench {

struct InjectedDelay {
  std::string name;  // name of the case
  double share{};    // share of the undelayed step's time, above 0
};

/// Parses the value of --tb_plant.
/// @param text  `NAME:SHARE`, e.g. `Model/size:small/...:0.05`; the name may contain colons
/// @return      nullopt for another form, or for a share that is not above 0 and at most 1
[[nodiscard]] std::optional<InjectedDelay> parse_injected_delay(const std::string& text);

/// Keeps the device, or for cases on the CPU the host, busy for a duration. On a device the delay is enqueued after the
/// step's work.
using Delay = std::function<void(Seconds)>;

/// Returns the case with a delay at the end of its last phase. build() times a few steps, or bursts, to derive the
/// length of the delay from `share`. The record's label `planted_delay` holds the share.
/// @param timer  timer that outlives the case
[[nodiscard]] std::unique_ptr<Case> with_delay(std::unique_ptr<Case> subject, double share, Regime regime,
                                               measure::Timer& timer, Delay delay);

}  // namespace tbench::bench

// A slowdown of known size in one case (`--tb_plant=NAME:SHARE`): what a gate that can see has to report.
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
  std::string name;  // of the case
  double share{};    // of the step's own time, above 0
};

/// @param text  `NAME:SHARE`, e.g. `Model/size:small/...:0.05`; the name may contain colons
/// @return      nothing for another form, or a share that is not above 0 and at most 1
[[nodiscard]] std::optional<InjectedDelay> parse_injected_delay(const std::string& text);

/// Keeps the device busy for a duration, or the host where the cases run on it; enqueues behind the step's work.
using Delay = std::function<void(Seconds)>;

/// The case with a delay inside its step, behind the work of its last phase. build() times a few steps, or bursts, to
/// learn how long that is. The record's label `planted_delay` has the share.
/// @param timer  outlives the case
[[nodiscard]] std::unique_ptr<Case> with_delay(std::unique_ptr<Case> subject, double share, Regime regime,
                                               measure::Timer& timer, Delay delay);

}  // namespace tbench::bench

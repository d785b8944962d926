// Whether a night says something about the build at all: ceilings, null control, driver, gaps. Private to the report
// layer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate_reference.hpp"
#include "tbench/report/gate.hpp"

namespace tbench::report {

/// Each ceiling of tonight against its median over the last nights: within 1 %, or within four times its usual spread
/// where that is more. None of those that fewer than three nights tell of.
[[nodiscard]] std::vector<CeilingCheck> check_ceilings(const NightsByCase& nights, const MeasuredRun& tonight);

/// @param known_spread  as CompareOptions::known_spread
[[nodiscard]] NullControl check_null_control(const NullControlSides& sides,
                                             const std::map<std::string, double>& known_spread);

/// On the first valid night of an epoch, how the cases moved; otherwise nothing.
[[nodiscard]] std::optional<EpochShift> epoch_shift(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                                                    std::optional<double> tau);

/// Cases of the last valid night of the epoch that tonight lacks.
[[nodiscard]] std::vector<std::string> missing_cases(const std::vector<PastRun>& past, const MeasuredRun& tonight);

/// Cases whose last valid value is more than 48 hours before tonight, and less than 30 days.
/// @param tonight_is_valid  its values count
[[nodiscard]] std::vector<std::string> stale_cases(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                                                   bool tonight_is_valid);

}  // namespace tbench::report

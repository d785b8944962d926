// What the second look at a night's candidates says: the kept build and tonight's, run in turns. Private to the report
// layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate_screen.hpp"
#include "tbench/report/gate.hpp"

namespace tbench::report {

/// Gives every candidate its verdict.
/// @param confirm  empty: there is no kept build, and they stay `unconfirmed`
/// @param most     so many are run again, the gravest first
/// @throws         what `confirm` throws
void confirm_candidates(std::vector<JudgedCase*> candidates, const Confirm& confirm, std::size_t most,
                        NightVerdict unconfirmed);

}  // namespace tbench::report

// The outcomes of a run as a whole, next to the outcomes of its cases.
#pragma once

#include <string>
#include <vector>

#include "tbench/gate/gate_report.hpp"

namespace tbench::gate {

struct OfRun {
  Subject subject;
  Outcome outcome;
  std::string text;
};

/// Returns the outcomes of the run, the gravest first.
[[nodiscard]] std::vector<OfRun> of_run(const GateReport& report);

}  // namespace tbench::gate

// The measurements of a case in the blocks of a confirmation, which run the kept build and the candidate alternately.
#pragma once

#include <optional>
#include <vector>

#include "gate/judging_steps.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::gate {

/// A case's processes on one side of a block, or of all blocks.
using Processes = std::vector<const results::Replicate*>;

struct Evidence {
  CaseVerdict* judged;
  Processes base;
  Processes next;
  std::vector<double> differences;           // differences of ln(time), one per block
  std::vector<double> in_cycles;             // differences of ln(cycles), for blocks that have cycles
  std::vector<double> of_device;             // differences of ln(GPU time), for blocks that have it
  std::optional<stats::ModeratedTest> test;  // test of `differences`, if there are at least three
};

/// Collects the measurements of a case.
/// @param blocks  must outlive the evidence
[[nodiscard]] Evidence evidence_of(CaseVerdict& judged, const std::vector<ConfirmationBlock>& blocks);

}  // namespace tbench::gate

// The steps of a headline: the fastest one of each model size and GPU model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "studies/side_by_side/headline_gpus.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::studies {

/// The fastest step of one size on one GPU model.
struct HeadlineStep {
  const HeadlineGpu* gpu{};
  std::string size;
  const Record* record{};    // without a time if no implementation has one
  std::size_t processes{1};  // records among which `record` is the middle one
};

struct HeadlineSteps {
  CaseId common;                    // what all cases share: Model with ctx, batch, pass, precision
  std::vector<HeadlineStep> steps;  // by size, then by GPU model; without the sizes that a GPU model did not run
};

/// Returns the steps of the headline.
/// @throws  UsageError  if no Model case has a time
[[nodiscard]] HeadlineSteps headline_steps(std::span<const HeadlineGpu> gpus);

/// Returns the sizes that a GPU model has no record of, by GPU model: `xl, 2.7B on A100; small on H200`.
[[nodiscard]] std::string not_measured(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus);

}  // namespace tbench::studies

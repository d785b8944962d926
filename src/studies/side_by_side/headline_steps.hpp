// The records behind a headline: by GPU model, and the fastest step of each model size.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/headline.hpp"

namespace tbench::studies {

/// A GPU model with the selected records of its files.
struct HeadlineGpu {
  std::string name;         // short_gpu_name(), or the driver's name if two models have the same short name
  const GpuFacts* facts{};  // of the first file
  std::optional<double> price_per_hour{};
  std::size_t files{};
  std::vector<std::string> builds{};  // each once
  std::vector<const Record*> records{};
};

/// Returns the GPU models in the order of their first files.
/// @throws  UsageError  as headline_report()
[[nodiscard]] std::vector<HeadlineGpu> headline_gpus(std::span<const results::NamedResults> results,
                                                     const HeadlineOptions& options);

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

}  // namespace tbench::studies

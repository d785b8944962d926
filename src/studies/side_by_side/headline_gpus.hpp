// The GPU models behind a headline: their prices, their builds, and of each case the records of the newest build.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/headline.hpp"

namespace tbench::studies {

/// A build, with the starts of its first and its last run on one GPU model, in ISO 8601.
struct HeadlineBuild {
  std::string name;
  std::string first_run;
  std::string last_run;
};

/// Returns the builds with their days, `349054768cce of 2026-11-27`, or the number of many builds.
[[nodiscard]] std::string builds_text(std::span<const HeadlineBuild> builds);

/// A GPU model with the selected records of its files.
struct HeadlineGpu {
  std::string name;         // short_gpu_name(), or the driver's name if two models have the same short name
  const GpuFacts* facts{};  // of the first file
  std::optional<double> price_per_hour{};
  std::size_t files{};
  std::vector<HeadlineBuild> builds{};              // from which records are, the oldest first
  std::vector<const Record*> records{};             // of each case, those of the newest build that has it
  std::map<const Record*, std::size_t> build_of{};  // index in `builds`
  std::size_t older_records{};                      // left out, because a newer build has the case
  std::vector<HeadlineBuild> older_builds{};        // of which no record is left
};

/// Returns the GPU models in the order of their first files.
/// @throws  UsageError  as headline_report()
[[nodiscard]] std::vector<HeadlineGpu> headline_gpus(std::span<const results::NamedResults> results,
                                                     const HeadlineOptions& options);

/// Returns the builds of these records of a GPU model, the oldest first.
[[nodiscard]] std::vector<HeadlineBuild> builds_of(const HeadlineGpu& gpu, std::span<const Record* const> records);

}  // namespace tbench::studies

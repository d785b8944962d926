// Compares GPU models as a buyer does: one training step of each model size, with its energy, memory and price, what
// only the larger memory can run, and `flash` against PyTorch's fused attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/results/result_file.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// The price of an hour of a GPU, in any currency.
struct GpuPrice {
  std::string gpu;  // short name, such as `H100`, or the driver's whole name
  double per_hour{};
};

/// Parses `GPU=PRICE`, such as `H100=2.00`.
/// @throws  UsageError  naming `flag` and the value, for any other text, and for a price that is not above 0
[[nodiscard]] GpuPrice parse_price(const std::string& text, const std::string& flag);

struct HeadlineOptions {
  std::vector<GpuPrice> prices;
  std::string filter;  // regular expression for case names; if empty, selects all
};

/// Returns the headline of results. Files of the same GPU model belong together. A GPU model's row of a size is its
/// fastest implementation by the step's median. Of each case, only the records of the newest build count; if there are
/// several, the row shows the middle one.
///
/// The steps are the cases of Model that differ in size and implementation alone: train steps before forward and
/// backward before forward, bf16 before other precisions, then the context and batch with the most sizes. Ratios are
/// geometric means over the sizes that both GPU models have.
/// @param results  not empty
/// @throws         UsageError  for a file without a GPU, results without a Model case with a time, a filter that is not
/// a
///                             regular expression or selects no case, or a price of no GPU or of several
[[nodiscard]] StudyReport headline_report(std::span<const results::NamedResults> results,
                                          const HeadlineOptions& options);

}  // namespace tbench::studies

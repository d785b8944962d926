// Ranks the kernels of a step by time: within each phase, in forward and backward together, and in the whole step.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::ranked_kernels {
namespace {

/// Returns the phases, followed by forward and backward together and by the whole step where there are several phases.
std::vector<TracedPhase> rankings_of(std::span<const Record* const> records) {
  std::vector<TracedPhase> rankings = traced_phases(records);
  const std::vector<TracedPhase> phases = rankings;
  const std::optional<TracedPhase> both = forward_and_backward(phases);
  if (both) rankings.push_back(*both);
  if (phases.size() > (both ? 2U : 1U)) rankings.push_back(joined_phase("step", phases));
  return rankings;
}

/// @param layers  0 if unknown
StudyRow row_of(const TracedPhase& ranking, std::size_t rank, const TracedKernel& kernel, Seconds step, double layers) {
  constexpr double kMicro = 1e6;
  const auto deviation = kernel.standard_deviation;
  return {.names = {ranking.name, fmt::format("{}", rank), kernel.kernel_class},
          .values = {kernel.calls, layers > 0 ? std::optional{kernel.calls / layers} : std::nullopt,
                     to_milliseconds(kernel.total), percent_of(kernel.total, ranking.total),
                     percent_of(kernel.total, step), kernel.total.value / kernel.calls * kMicro,
                     deviation ? std::optional{deviation->value * kMicro} : std::nullopt},
          .detail = kernel.name};
}

std::vector<StudyRow> longest(const StudyCase& of) {
  const std::span<const Record* const> records = of.records;
  const std::optional<ModelSize> size = model_size_of(records.front()->id, of.all.sizes);
  const double layers = size ? static_cast<double>(size->num_layers) : 0;
  Seconds step{};
  for (const TracedPhase& phase : traced_phases(records)) step = step + phase.total;
  std::vector<StudyRow> rows;
  for (const TracedPhase& ranking : rankings_of(records)) {
    std::size_t rank = 0;
    for (const TracedKernel& operation : ranking.operations) {
      if (is_kernel(operation)) rows.push_back(row_of(ranking, ++rank, operation, step, layers));
    }
  }
  return rows;
}

Study ranked_kernels_study() {
  return {
      .name = "ranked_kernels",
      .title = "The longest kernels of each phase, of forward and backward together, and of the step",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .row_tables = {{.caption = "At most {top} of each. Calls and total of a step; mean and deviation are of a call. "
                                 "Percentages are of the time of all operations of the phase, or of the phases "
                                 "together, and of the step",
                      .names = {"phase", "rank", "class"},
                      .quantities = {{"calls", &count_text},
                                     {"calls a layer", &render::format_number},
                                     {"total ms", &render::format_number},
                                     {"% of phase", &one_digit},
                                     {"% of step", &one_digit},
                                     {"mean us", &render::format_number},
                                     {"std us", &render::format_number}},
                      .detail = "kernel",
                      .rows_of = &longest,
                      .has_kernels = true,
                      .has_no_charts = true,
                      .top = 5}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "ranked_kernels", .order = 132, .make = &ranked_kernels_study});

}  // namespace
}  // namespace tbench::studies::ranked_kernels

// Counts the matrix products of a forward pass: in all, and per layer by use.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::products {
namespace {

/// Returns the kernels of matrix products in a phase, per step.
OperationSum products_of(const TracedPhase& phase) { return sum_of(phase.operations, &is_gemm); }

/// Returns a row per phase: the products of the phase, per layer and outside the layers. A forward pass has one product
/// outside the layers, the LM head; backward has two for each product of forward.
std::vector<StudyRow> by_phase(const StudyCase& of) {
  const std::optional<ModelSize> size = model_size_of(of.records.front()->id, of.all.sizes);
  if (!size) return {};
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(of.records)) {
    const OperationSum sum = products_of(phase);
    if (sum.calls == 0) continue;
    const auto layers = static_cast<double>(size->num_layers);
    const double outside = phase.name == "backward" ? 2 : 1;  // of the LM head
    rows.push_back({.names = {phase.name},
                    .values = {sum.calls, layers, (sum.calls - outside) / layers, to_milliseconds(sum.total),
                               percent_of(sum.total, phase.total)},
                    .detail = {}});
  }
  return rows;
}

Study products_study() {
  return {.name = "products",
          .title = "Kernels of matrix products, per layer",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {{.caption = "Calls and times of a step. The LM head's kernels, one in forward and two in "
                                     "backward, do not count among those per layer. A layer of separate operations "
                                     "has nine products in forward (q, k, v, scores, values, output, three of the "
                                     "feed-forward), and two for each of these in backward; split-k adds reductions",
                          .names = {"phase"},
                          .quantities = {{"calls", &count_text},
                                         {"layers", &count_text},
                                         {"calls per layer", &render::format_number},
                                         {"total ms", &render::format_number},
                                         {"% of phase", &one_digit}},
                          .detail = {},
                          .rows_of = &by_phase}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "products", .order = 134, .make = &products_study});

}  // namespace
}  // namespace tbench::studies::products

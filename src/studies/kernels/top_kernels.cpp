// Names the kernel that takes the most time in each phase, and the one among the kernels other than matrix products.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"

namespace tbench::studies::top_kernels {
namespace {

using Records = std::span<const Record* const>;
using Counts = bool (*)(const TracedKernel&);

bool is_other_kernel(const TracedKernel& operation) { return !is_copy(operation) && !is_gemm(operation); }

/// Returns the longest operation for which `counts` is true, or null. Relies on the phase's descending order of time.
const TracedKernel* longest(const TracedPhase& phase, Counts counts) {
  const auto found = std::ranges::find_if(phase.operations, counts);
  return found == phase.operations.end() ? nullptr : &*found;
}

template <Counts counts>
std::vector<StudyRow> longest_of_phases(Records records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    if (const TracedKernel* const top = longest(phase, counts)) rows.push_back(kernel_row(phase, *top));
  }
  return rows;
}

StudyRowTable longest_table(const std::string& caption, std::vector<StudyRow> (*rows_of)(Records)) {
  return {.caption = caption,
          .names = {"phase", "class"},
          .quantities = kernel_quantities(),
          .detail = "kernel",
          .rows_of = rows_of,
          .has_kernels = true};
}

Seconds time_in(const TracedPhase& phase, const std::string& kernel) {
  Seconds total{};
  for (const TracedKernel& operation : phase.operations) {
    if (operation.name == kernel) total = total + operation.total;
  }
  return total;
}

/// Returns one row: the forward pass's longest kernel, and its share of each phase of training. Returns no row if a
/// phase or its kernels are missing.
std::vector<StudyRow> forwards_longest(Records records) {
  const std::vector<TracedPhase> phases = traced_phases(records);
  const std::optional<TracedPhase> both = forward_and_backward(phases);
  if (!both) return {};
  const auto forward = std::ranges::find(phases, "forward", &TracedPhase::name);
  const auto backward = std::ranges::find(phases, "backward", &TracedPhase::name);
  const TracedKernel* const top = longest(*forward, &is_kernel);
  const TracedKernel* const of_both = longest(*both, &is_kernel);
  if (top == nullptr || of_both == nullptr) return {};
  return {
      {.names = {top->name == of_both->name ? "yes" : "no"},
       .values = {percent_of(top->total, forward->total), percent_of(time_in(*backward, top->name), backward->total),
                  percent_of(time_in(*both, top->name), both->total)},
       .detail = top->name}};
}

/// The number of cases in which a matrix product is the longest kernel of a phase, and the products' share of the
/// phase.
struct ProductsOfPhase {
  std::size_t cases{};
  std::size_t longest{};
  NamedRange percent{};  // of all operations of the phase, over sizes
};

using TracedSteps = std::map<std::string, std::vector<TracedPhase>>;  // of training, by the case's name

ProductsOfPhase products_of(const StudyMeasurements& all, const TracedSteps& steps, std::string_view name) {
  ProductsOfPhase found;
  for (const auto& [id, phases] : steps) {
    const TracedPhase* const phase = phase_named(phases, name);
    const TracedKernel* const top = phase == nullptr ? nullptr : longest(*phase, &is_kernel);
    if (top == nullptr) continue;
    ++found.cases;
    if (is_gemm(*top)) ++found.longest;
  }
  found.percent = range_over_sizes(all, {{"pass", "train_step"}, {"ctx", "512"}, {"precision", "fp32"}},
                                   [&](const CaseId& id) -> std::optional<double> {
                                     const TracedPhase* const phase = phase_named(steps.at(id.name()), name);
                                     if (phase == nullptr) return std::nullopt;
                                     return percent_of(sum_of(phase->operations, &is_gemm).total, phase->total);
                                   });
  return found;
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  TracedSteps steps;
  for (const CaseId& id : all.cases) {
    if (has_all(id, {{"pass", "train_step"}})) steps.emplace(id.name(), traced_phases(all.records_of(id)));
  }
  const ProductsOfPhase forward = products_of(all, steps, "forward");
  const ProductsOfPhase backward = products_of(all, steps, "backward");
  if (forward.cases < 2 || backward.cases < 2) return {};  // one case is a row
  std::vector<std::string> found{fmt::format(
      "The longest kernel is a matrix product in {} of {} traced forward passes of training, and in {} of {} "
      "backward passes.",
      forward.longest, forward.cases, backward.longest, backward.cases)};
  if (forward.percent.count > 0 && backward.percent.count > 0) {
    found.push_back(fmt::format("With 512 tokens in fp32, products take {} of forward and {} of backward.",
                                forward.percent.text("%"), backward.percent.text("%")));
  }
  return found;
}

Study top_kernels_study() {
  return {.name = "top_kernels",
          .title = "The kernels that take the most time, by phase",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables =
              {longest_table("The longest kernel of each phase; calls and total of a step, the others of a call",
                             &longest_of_phases<&is_kernel>),
               longest_table("The longest kernel that is no matrix product", &longest_of_phases<&is_other_kernel>),
               {.caption = "The longest kernel of the forward pass, in training: its share of what ran in each phase",
                .names = {"longest of forward + backward too"},
                .quantities = {{"% of forward", &one_digit},
                               {"% of backward", &one_digit},
                               {"% of forward + backward", &one_digit}},
                .detail = "kernel",
                .rows_of = &forwards_longest,
                .only = {{"pass", "train_step"}},
                .has_kernels = true,
                .has_no_charts = true}},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "top_kernels", .order = 130, .make = &top_kernels_study});

}  // namespace
}  // namespace tbench::studies::top_kernels

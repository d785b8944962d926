// Compares the share of matrix products in a step of inference and of training.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "studies/products/flop_sentences.hpp"
#include "studies/products/flop_tables.hpp"
#include "studies/roofline/ceilings.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::gemm_share {
namespace {

double share_of_kernels(const StepTrace& trace, Seconds) {
  return percent_of(sum_of(trace.kernels, &is_gemm).total, sum_of(trace.kernels, &is_kernel).total);
}

double share_of_step(const StepTrace& trace, Seconds step) {
  return percent_of(sum_of(trace.kernels, &is_gemm).total, step);
}

std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    const Seconds products = sum_of(phase.operations, &is_gemm).total;
    const Seconds kernels = sum_of(phase.operations, &is_kernel).total;
    rows.push_back({.names = {phase.name},
                    .values = {to_milliseconds(products), to_milliseconds(kernels), percent_of(products, kernels)},
                    .detail = {}});
  }
  return rows;
}

std::optional<double> share_of(const StudyMeasurements& all, const CaseId& id) {
  return median_of(all.records_of(id), [](const Record& record) -> std::optional<double> {
    if (!record.trace || !record.timing) return std::nullopt;
    return share_of_kernels(*record.trace, record.timing->median);
  });
}

/// Returns in how many pairs the training step has a smaller share than inference, or an empty text without a pair.
std::string training_sentence(const StudyMeasurements& all) {
  std::size_t pairs = 0;
  std::size_t smaller = 0;
  for (const CaseId& id : all.cases) {
    if (value_or_empty(id, "pass") != "train_step") continue;
    const std::optional<double> training = share_of(all, id);
    const std::optional<double> inference = share_of(all, with_value(id, "pass", "forward"));
    if (!training || !inference) continue;
    ++pairs;
    smaller += *training < *inference ? 1 : 0;
  }
  if (pairs == 0) return "";
  return fmt::format(
      "Matrix products have a smaller share of the kernels' time in the training step than in inference "
      "in {} of {} comparisons.",
      smaller, pairs);
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found{training_sentence(all)};
  for (const std::string precision : {"fp32", "bf16"}) {
    const NamedRange shares = range_over_sizes(all, {{"pass", "forward"}, {"ctx", "512"}, {"precision", precision}},
                                               [&](const CaseId& id) { return share_of(all, id); });
    if (shares.count < 2) continue;
    found.push_back(fmt::format("In inference with 512 tokens in {}, their share is {}.", precision, shares.text("%")));
  }
  std::erase(found, "");
  std::ranges::move(flop_sentences(all), std::back_inserter(found));
  return found;
}

std::vector<StudyRowTable> row_tables() {
  std::vector<StudyRowTable> tables = flop_tables();
  tables.insert(tables.begin(), {.caption = "The same by phase; ms of a step",
                                 .names = {"phase"},
                                 .quantities = {{"matrix products ms", &render::format_number},
                                                {"kernels ms", &render::format_number},
                                                {"of kernels %", &one_digit}},
                                 .detail = {},
                                 .rows_of = &by_phase});
  return tables;
}

Study gemm_share_study() {
  return {.name = "gemm_share",
          .title = "The share of matrix products in inference and in training",
          .grids = traced_grid({"forward", "forward_backward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .tables = {{.caption = "Time of matrix products over that of all kernels, and over the step; changes from "
                                 "the forward pass alone, in percentage points",
                      .spread = {"pass"},
                      .columns = {trace_column("of kernels %", &share_of_kernels, &one_digit),
                                  trace_column("of step %", &share_of_step, &one_digit)},
                      .speed_up = StudySpeedUp{.base = {{"pass", "forward"}}, .as = StudyComparison::kPoints}}},
          .row_tables = row_tables(),
          .beside = {copy_case(), products_case("fp32")},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "gemm_share", .order = 150, .make = &gemm_share_study});

}  // namespace
}  // namespace tbench::studies::gemm_share

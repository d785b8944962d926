// Breaks the GPU's time down by class of operation, for each phase and for the step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/attention_kernels.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::kernel_classes {
namespace {

constexpr const char* kProducts = "matrix products";
constexpr const char* kSoftmaxForward = "softmax forward";
constexpr const char* kSoftmaxBackward = "softmax backward";

std::vector<StudyRow> by_class(std::span<const Record* const> records) {
  std::vector<TracedPhase> phases = traced_phases(records);
  TracedPhase step = joined_phase("(step)", phases);
  const Seconds whole = step.total;
  if (phases.size() > 1) phases.push_back(std::move(step));
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : phases) {
    for (const auto& [name, sum] : sums_by_class(phase.operations)) {
      rows.push_back({.names = {phase.name, name},
                      .values = {sum.calls, to_milliseconds(sum.total), percent_of(sum.total, phase.total),
                                 percent_of(sum.total, whole)},
                      .detail = {}});
    }
  }
  return rows;
}

/// Returns the class of an operation outside the ranges of attention, in the table with softmax as a class.
std::string wide_class(const TracedKernel& kernel) {
  static const std::map<std::string, std::string> kClasses{
      {"gemm", kProducts},        {"elementwise", "elementwise"},       {"optimizer", "optimizer"},
      {"reduction", "reduction"}, {"softmax_forward", kSoftmaxForward}, {"softmax_backward", kSoftmaxBackward}};
  const auto found = kClasses.find(kernel.kernel_class);
  return found == kClasses.end() ? "other" : found->second;
}

/// Returns a row per class: the number of operations and their time. The operations of the ranges of softmax move from
/// their own class to softmax.
std::vector<TracedRow> rows_with_softmax(const StepTrace& trace) {
  std::map<std::string, OperationSum> sums;
  const auto add = [&](const std::string& name, double calls, Seconds total) {
    sums[name].calls += calls;
    sums[name].total = sums[name].total + total;
  };
  for (const TracedKernel& kernel : trace.kernels) add(wide_class(kernel), kernel.calls, kernel.total);
  for (const TracedRangeKernel& in_range : trace.range_kernels) {
    const TracedKernel& kernel = trace.kernels.at(in_range.kernel);
    if (!is_softmax(trace.ranges.at(in_range.range), kernel)) continue;
    add(wide_class(kernel), -in_range.calls, Seconds{} - in_range.total);
    add(kernel.phase == "backward" ? kSoftmaxBackward : kSoftmaxForward, in_range.calls, in_range.total);
  }
  constexpr double kNone = 1e-6;  // calls: what rounding leaves of a class whose operations are all of softmax
  std::vector<TracedRow> rows;
  for (const auto& [name, sum] : sums) {
    if (sum.calls > kNone) rows.push_back({.names = {name}, .values = {sum.calls, sum.total.value}});
  }
  return rows;
}

/// Returns the classes with softmax as a class, the longest first. Returns no class without softmax.
std::vector<std::pair<std::string, OperationSum>> sums_with_softmax(std::span<const Record* const> records) {
  std::vector<std::pair<std::string, OperationSum>> sums;
  bool has_softmax = false;
  for (const TracedRow& row : traced_rows(records, &rows_with_softmax)) {
    has_softmax = has_softmax || row.names[0] == kSoftmaxForward || row.names[0] == kSoftmaxBackward;
    sums.emplace_back(row.names[0], OperationSum{.calls = row.values[0], .total = {row.values[1]}});
  }
  if (!has_softmax) return {};
  std::ranges::stable_sort(sums, std::ranges::greater{}, [](const auto& sum) { return sum.second.total.value; });
  return sums;
}

Seconds total_of(std::span<const std::pair<std::string, OperationSum>> sums) {
  Seconds total{};
  for (const auto& [name, sum] : sums) total = total + sum.total;
  return total;
}

std::vector<StudyRow> with_softmax(std::span<const Record* const> records) {
  std::vector<std::pair<std::string, OperationSum>> sums = sums_with_softmax(records);
  if (sums.empty()) return {};
  OperationSum all{.calls = 0, .total = total_of(sums)};
  for (const auto& [name, sum] : sums) all.calls += sum.calls;
  sums.emplace_back("(all)", all);
  std::vector<StudyRow> rows;
  for (const auto& [name, sum] : sums) {
    rows.push_back({.names = {name},
                    .values = {sum.calls, to_milliseconds(sum.total), percent_of(sum.total, all.total)},
                    .detail = {}});
  }
  return rows;
}

/// Returns softmax's percentage of a training step next to the matrix products' percentage. Returns an empty text
/// without softmax.
std::string sentence_of(const CaseId& id, std::span<const Record* const> records) {
  const std::vector<std::pair<std::string, OperationSum>> sums = sums_with_softmax(records);
  if (sums.empty()) return {};
  const auto percent = [&](const std::string& name) {
    const auto found = std::ranges::find(sums, name, [](const auto& sum) { return sum.first; });
    return found == sums.end() ? 0 : percent_of(found->second.total, total_of(sums));
  };
  const double softmax = percent(kSoftmaxForward) + percent(kSoftmaxBackward);
  return fmt::format(
      "Softmax takes {:.1f} % of the GPU's time in the training step of {}, {} tokens, {}: {:.1f} % in forward and "
      "{:.1f} % in backward. That is {} than the matrix products, which take {:.1f} %.",
      softmax, id.at("size"), id.at("ctx"), id.at("precision"), percent(kSoftmaxForward), percent(kSoftmaxBackward),
      softmax > percent(kProducts) ? "more" : "less", percent(kProducts));
}

/// Returns a sentence for the first traced training step in each precision.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::set<std::string> told;
  std::vector<std::string> found;
  for (const CaseId& id : all.cases) {
    if (id.at("pass") != "train_step" || told.contains(id.at("precision"))) continue;
    std::string sentence = sentence_of(id, all.records_of(id));
    if (sentence.empty()) continue;
    told.insert(id.at("precision"));
    found.push_back(std::move(sentence));
  }
  return found;
}

StudyRowTable class_table() {
  return {.caption = "Operations and their time, of a step; a cast is a copy to another type",
          .names = {"phase", "class"},
          .quantities = {{"operations", &count_text},
                         {"total ms", &render::format_number},
                         {"% of phase", &one_digit},
                         {"% of step", &one_digit}},
          .detail = {},
          .rows_of = &by_class};
}

StudyRowTable softmax_table() {
  return {
      .caption =
          "The classes of a training step with softmax as a class: all operations of the ranges "
          "attention.softmax, which do not count in other classes here. Other: casts, copies, fills and "
          "all other classes",
      .names = {"class"},
      .quantities = {{"operations", &count_text}, {"total ms", &render::format_number}, {"% of GPU time", &one_digit}},
      .detail = {},
      .rows_of = &with_softmax,
      .only = {{"pass", "train_step"}},
      .has_no_charts = true,
      .needs_rows = true};
}

Study kernel_classes_study() {
  return {.name = "kernel_classes",
          .title = "The GPU's time by class of operation",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {class_table(), softmax_table()},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "kernel_classes", .order = 160, .make = &kernel_classes_study});

}  // namespace
}  // namespace tbench::studies::kernel_classes

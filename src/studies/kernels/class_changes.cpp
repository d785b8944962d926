// Compares the classes of operations in inference with those in the whole training step, in percentage points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::class_changes {
namespace {

/// Returns each class's percentage of the time of all kernels of all phases.
std::map<std::string, double> percent_by_class(std::span<const Record* const> records) {
  TracedPhase step = joined_phase("step", traced_phases(records));
  std::erase_if(step.operations, &is_copy);
  const Seconds kernels = sum_of(step.operations, &is_kernel).total;
  std::map<std::string, double> percent;
  for (const auto& [name, sum] : sums_by_class(step.operations)) percent[name] = percent_of(sum.total, kernels);
  return percent;
}

/// Returns a row per class for a training step, the largest change first. Returns no row without a trace of inference.
std::vector<StudyRow> by_class(const StudyCase& of) {
  const std::map<std::string, double> inference =
      percent_by_class(of.all.records_of(with_value(of.records.front()->id, "pass", "forward")));
  if (inference.empty()) return {};
  std::map<std::string, double> change = percent_by_class(of.records);
  const std::map<std::string, double> training = change;
  for (const auto& [name, percent] : inference) change[name] -= percent;
  std::vector<StudyRow> rows;
  for (const auto& [name, points] : change) {
    const auto in = [&](const std::map<std::string, double>& shares) {
      const auto found = shares.find(name);
      return found == shares.end() ? 0.0 : found->second;
    };
    rows.push_back({.names = {name}, .values = {in(inference), in(training), points}, .detail = {}});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const StudyRow& row) { return std::abs(*row.values[2]); });
  return rows;
}

std::string signed_digit(double value) { return fmt::format("{:+.1f}", value); }

/// Returns the changes of at least a percentage point: `gemm 90.0 to 46.9 % (-43.1 points), optimizer +18.8`.
std::string changes_in_words(const std::vector<StudyRow>& rows) {
  constexpr double kNotable = 1;  // percentage points
  std::string text;
  for (const StudyRow& row : rows) {
    const double points = *row.values[2];
    if (std::abs(points) < kNotable) continue;
    if (text.empty()) {
      text =
          fmt::format("{} {:.1f} to {:.1f} % ({:+.1f} points)", row.names[0], *row.values[0], *row.values[1], points);
    } else {
      text += fmt::format(", {} {:+.1f}", row.names[0], points);
    }
  }
  return text.empty() ? "no class changes by a point or more" : text;
}

/// Returns a sentence for the first training step in each precision that was traced together with its inference.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::set<std::string> told;
  std::vector<std::string> found;
  for (const CaseId& id : all.cases) {
    const std::span<const Record* const> records = all.records_of(id);
    if (id.at("pass") != "train_step" || told.contains(id.at("precision"))) continue;
    if (percent_by_class(records).empty()) continue;
    const std::vector<StudyRow> rows = by_class({.records = records, .all = all});
    if (rows.empty()) continue;
    told.insert(id.at("precision"));
    found.push_back(fmt::format("From inference to the training step of {}, {} tokens, {}, by the kernels' time: {}.",
                                id.at("size"), id.at("ctx"), id.at("precision"), changes_in_words(rows)));
  }
  return found;
}

Study class_changes_study() {
  return {.name = "class_changes",
          .title = "From inference to training: the change of each class of operations",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables =
              {{.caption = "Percent of the time of all kernels, without copies and fills: of the forward pass alone "
                           "(pass:forward), and of the whole training step; the change in percentage points",
                .names = {"class"},
                .quantities = {{"inference %", &one_digit}, {"training %", &one_digit}, {"change pp", &signed_digit}},
                .detail = {},
                .rows_of = &by_class,
                .only = {{"pass", "train_step"}}}},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "class_changes", .order = 162, .make = &class_changes_study});

}  // namespace
}  // namespace tbench::studies::class_changes

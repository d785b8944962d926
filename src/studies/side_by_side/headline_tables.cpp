#include "studies/side_by_side/headline_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/side_by_side/headline_quantities.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/summary.hpp"

namespace tbench::studies {
namespace {

using render::Align;

std::string implementation_of(const CaseId& id) {
  const std::string* const exec = id.find("exec");
  return exec == nullptr || *exec == "eager" ? id.at("impl") : fmt::format("{}, {}", id.at("impl"), *exec);
}

std::vector<StudyCell> row_of(const HeadlineStep& step, std::string& used_marks) {
  std::vector<StudyCell> row{
      {.text = step.size}, {.text = step.gpu->name}, {.text = implementation_of(step.record->id)}};
  if (!step.record->timing) row.back().text = render::status_text(step.record->status);
  for (const HeadlineColumn& column : headline_columns()) {
    const auto value = step.record->timing ? column.value(step) : std::nullopt;
    row.push_back({.text = value ? column.format(*value) : "", .value = value});
  }
  const Record* const record = step.record;
  row.push_back({.text = render::marks_of({&record, 1})});
  used_marks += row.back().text;
  return row;
}

/// Removes the columns after the first three in which no row has a text.
void leave_out_empty_columns(StudySection& section) {
  for (std::size_t column = section.columns.size(); column-- > 3;) {
    const auto is_empty = [&](const std::vector<StudyCell>& row) { return row[column].text.empty(); };
    if (!std::ranges::all_of(section.rows, is_empty)) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    section.columns.erase(section.columns.begin() + place);
    for (auto& row : section.rows) row.erase(row.begin() + place);
  }
}

}  // namespace

std::string headline_work(const HeadlineSteps& steps) {
  static const std::map<std::string, const char*> names{
      {"train_step", "Training step"}, {"forward_backward", "Forward and backward"}, {"forward", "Forward"}};
  const auto name = names.find(value_or_empty(steps.common, "pass"));
  return fmt::format("{} of {} x {} tokens in {}",
                     name == names.end() ? value_or_empty(steps.common, "pass") : name->second,
                     value_or_empty(steps.common, "batch"), value_or_empty(steps.common, "ctx"),
                     value_or_empty(steps.common, "precision"));
}

StudySection headline_steps_section(const HeadlineSteps& steps, std::string& used_marks) {
  StudySection section;
  section.name = "steps";
  section.caption = headline_work(steps) + ": the fastest implementation of each size on one GPU";
  section.columns = {{"size"}, {"GPU"}, {"impl"}};
  for (const HeadlineColumn& column : headline_columns()) section.columns.push_back({column.header, Align::kRight});
  section.columns.push_back({render::kMarksHeader});
  for (const HeadlineStep& step : steps.steps) section.rows.push_back(row_of(step, used_marks));
  leave_out_empty_columns(section);
  return section;
}

std::optional<StudySection> headline_memory_section(std::span<const HeadlineGpu> gpus) {
  std::map<std::string, std::map<const HeadlineGpu*, const Record*>> cases;
  for (const HeadlineGpu& gpu : gpus) {
    for (const Record* const record : gpu.records) {
      const Record*& kept = cases[record->id.name()][&gpu];
      if (kept == nullptr || !kept->timing) kept = record;
    }
  }
  StudySection section;
  section.name = "memory";
  section.caption = "Cases that run on one of the GPUs and exceed the memory of another";
  section.columns = {{"runs on"}, {"peak GiB", Align::kRight}, {"out of memory on"}, {"case"}};
  for (const auto& [name, by_gpu] : cases) {
    const auto is_oom = [](const auto& one) { return one.second->status == Status::kOom; };
    const auto fits = std::ranges::find_if(by_gpu, [](const auto& one) { return one.second->timing.has_value(); });
    const auto fails = std::ranges::find_if(by_gpu, is_oom);
    if (fits == by_gpu.end() || fails == by_gpu.end()) continue;
    const auto peak = fits->second->memory ? std::optional{fits->second->memory->allocated_peak} : std::nullopt;
    const auto gibibytes = peak ? std::optional{static_cast<double>(*peak) / (1 << 30)} : std::nullopt;
    section.rows.push_back({{.text = fits->first->name},
                            {.text = render::format_gibibytes(peak, 1), .value = gibibytes},
                            {.text = fails->first->name},
                            {.text = name}});
  }
  return section.rows.empty() ? std::nullopt : std::optional{std::move(section)};
}

}  // namespace tbench::studies

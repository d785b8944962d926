// Shows the course of a step: one layer on the host and on the GPU, and the memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/profile/short_kernel_name.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::timelines {
namespace {

constexpr double kMicro = 1e6;
constexpr double kMebi = 1024.0 * 1024.0;

/// The number of a timeline's entries of one kind, and the time from the start of the first to the end of the last.
struct Extent {
  double count{};
  double start_s{std::numeric_limits<double>::infinity()};
  double end_s{};
};

Extent extent_of(const StepTimeline& timeline, TimelineEntry kind) {
  Extent extent;
  for (std::size_t i = 0; i < timeline.kind.size(); ++i) {
    if (timeline.kind[i] != static_cast<std::int64_t>(kind)) continue;
    ++extent.count;
    extent.start_s = std::min(extent.start_s, timeline.start_s[i]);
    extent.end_s = std::max(extent.end_s, timeline.end_s[i]);
  }
  return extent;
}

std::vector<StudyRow> layer_rows(std::span<const Record* const> records) {
  const Record& record = *records.front();
  if (!record.trace || !record.trace->timeline) return {};
  const StepTimeline& timeline = *record.trace->timeline;
  const Extent host = extent_of(timeline, TimelineEntry::kRange);
  const Extent calls = extent_of(timeline, TimelineEntry::kCall);
  const Extent gpu = extent_of(timeline, TimelineEntry::kOperation);
  StudyRow row{.names = {timeline.range},
               .values = {calls.count, kMicro * host.end_s, gpu.count, std::nullopt, std::nullopt},
               .detail = {}};
  if (gpu.count > 0) {
    row.values[3] = kMicro * (gpu.end_s - gpu.start_s);
    row.values[4] = kMicro * gpu.start_s;
  }
  return {row};
}

double mebibytes_at(const MemoryTimeline& timeline, std::size_t point) {
  std::int64_t bytes = 0;
  for (const MemoryBand& band : timeline.bands) bytes += band.bytes.at(point);
  return static_cast<double>(bytes) / kMebi;
}

std::vector<StudyRow> memory_rows(std::span<const Record* const> records) {
  const Record& record = *records.front();
  if (!record.memory || !record.memory->timeline || record.memory->timeline->events.empty()) return {};
  const MemoryTimeline& timeline = *record.memory->timeline;
  std::vector<StudyRow> rows;
  const auto add = [&](std::string name, std::size_t point) {
    rows.push_back({.names = {std::move(name)},
                    .values = {static_cast<double>(timeline.events[point]), mebibytes_at(timeline, point)},
                    .detail = {}});
  };
  for (const MemoryPhase& phase : timeline.phases) add("begin of " + phase.name, phase.point);
  add("peak", timeline.peak);
  add("end", timeline.events.size() - 1);
  return rows;
}

/// Returns the names without the versions of API functions, and kernels in short.
std::vector<std::string> shown_names(const StepTimeline& timeline) {
  std::vector<std::string> operations;
  for (std::size_t i = 0; i < timeline.kind.size(); ++i) {
    if (timeline.kind[i] != static_cast<std::int64_t>(TimelineEntry::kOperation)) continue;
    operations.push_back(timeline.names.at(static_cast<std::size_t>(timeline.name[i])));
  }
  const std::map<std::string, std::string> short_names = profile::short_kernel_names(operations);
  std::vector<std::string> shown;
  for (const std::string& name : timeline.names) {
    const auto found = short_names.find(name);
    shown.push_back(found == short_names.end() ? profile::without_version(name) : found->second);
  }
  return shown;
}

std::vector<StudyFigure> figures_of(const StudyMeasurements& all) {
  std::vector<StudyFigure> figures;
  for (const CaseId& id : all.cases) {
    const std::span<const Record* const> records = all.records_of(id);
    if (records.empty()) continue;
    const std::string title =
        fmt::format("{}, {} tokens, {}, {}", id.at("size"), id.at("ctx"), id.at("pass"), id.at("precision"));
    const Record& record = *records.front();
    if (record.trace && record.trace->timeline && !record.trace->timeline->kind.empty()) {
      const StepTimeline& timeline = *record.trace->timeline;
      figures.push_back({.title = title, .data = LayerFigure{timeline, shown_names(timeline)}});
    }
    if (record.memory && record.memory->timeline) {
      figures.push_back({.title = title, .data = *record.memory->timeline});
    }
  }
  return figures;
}

Study timelines_study() {
  FamilyGrid grid = model_grid({"512"}, {"forward", "train_step"}, {"fp32"});
  const auto size = std::ranges::find(grid.axes, "size", &Axis::key);
  size->values = {"small", "medium"};
  return {
      .name = "timelines",
      .title = "The course of a step: one layer on the host and on the GPU, and the memory",
      .grids = {std::move(grid)},
      .protocol = {.needs_trace = true, .needs_timelines = true},
      .row_tables = {{.caption = "The middle layer in a traced forward: the host's calls and time in its range, and "
                                 "the operations that these calls launched, which the GPU begins after the host",
                      .names = {"range"},
                      .quantities = {{"API calls", &count_text},
                                     {"host us", &render::format_number},
                                     {"operations", &count_text},
                                     {"GPU span us", &render::format_number},
                                     {"GPU begins after us", &render::format_number}},
                      .detail = {},
                      .rows_of = &layer_rows},
                     {.caption = "The allocated memory at some moments of the second step, with the number of the "
                                 "allocation or release",
                      .names = {"moment"},
                      .quantities = {{"event", &count_text}, {"MiB", &render::format_number}},
                      .detail = {},
                      .rows_of = &memory_rows}},
      .figures = &figures_of};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "timelines", .order = 186, .make = &timelines_study});

}  // namespace
}  // namespace tbench::studies::timelines

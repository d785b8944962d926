// The memory of a step: its peak, and what holds it by phase, range and allocation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::memory {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / kMebi; }

/// Returns the classes of held memory with their MiB, the largest first, such as `gradients 6,502, parameters 6,502`.
/// The text is empty if the record does not have them.
std::string held_classes(const PhaseMemory& phase) {
  std::vector<std::pair<std::int64_t, std::string>> classes;
  for (const auto& [memory_class, bytes] : phase.held_split) classes.emplace_back(bytes, memory_class);
  std::ranges::sort(classes, std::ranges::greater{});
  std::vector<std::string> texts;
  for (const auto& [bytes, memory_class] : classes) {
    const double held = std::round(mebibytes(bytes));
    if (held > 0) texts.push_back(memory_class + " " + render::format_thousands(held));
  }
  return join(texts, ", ");
}

std::vector<StudyRow> phase_rows(const MemoryUse& memory) {
  std::vector<StudyRow> rows;
  for (const PhaseMemory& phase : memory.phases) {
    rows.push_back({.names = {phase.phase},
                    .values = {mebibytes(phase.allocated_peak), mebibytes(phase.held)},
                    .detail = held_classes(phase)});
  }
  return rows;
}

std::string range_name(const std::string& path) { return path.empty() ? "(no range)" : path; }

std::vector<StudyRow> range_rows(const MemoryUse& memory) {
  std::vector<StudyRow> rows;
  for (const RangeMemory& range : memory.peak_ranges) {
    rows.push_back({.names = {range_name(range.range)},
                    .values = {mebibytes(range.bytes),
                               100 * static_cast<double>(range.bytes) / static_cast<double>(memory.allocated_peak),
                               static_cast<double>(range.allocations)},
                    .detail = {}});
  }
  return rows;
}

std::vector<StudyRow> allocation_rows(const MemoryUse& memory) {
  std::vector<StudyRow> rows;
  for (const Allocation& allocation : memory.largest) {
    rows.push_back({.names = {range_name(allocation.range)}, .values = {mebibytes(allocation.bytes)}, .detail = {}});
  }
  return rows;
}

/// Returns how much more or less memory a pass of medium with 512 tokens needs in bf16 than in fp32, as
/// `forward 36 % more`, or an empty text without both peaks.
std::string change_of(const StudyMeasurements& all, const std::string& pass) {
  std::vector<double> peaks;
  for (const std::string precision : {"fp32", "bf16"}) {
    for (const CaseId& id : all.cases) {
      if (!has_all(id, {{"size", "medium"}, {"ctx", "512"}, {"pass", pass}, {"precision", precision}})) continue;
      if (const auto peak = median_of(all.records_of(id), "peak_allocated_bytes")) peaks.push_back(*peak);
    }
  }
  if (peaks.size() != 2 || peaks[0] <= 0) return "";
  const double percent = 100 * (peaks[1] / peaks[0] - 1);
  return fmt::format("{} {:.0f} % {}", pass, std::abs(percent), percent < 0 ? "less" : "more");
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> changes;
  for (const char* const pass : {"forward", "forward_backward", "train_step"}) changes.push_back(change_of(all, pass));
  std::erase(changes, "");
  if (changes.empty()) return {};
  return {
      fmt::format("Peak memory of medium with 512 tokens in bf16, against fp32: {}. Autocast keeps the weights in "
                  "float32 and adds casts of them; activations get smaller.",
                  join(changes, ", "))};
}

/// The peak memory of a step, and the classes of data that occupy it.
Study memory_study() {
  const auto of_memory = [](auto rows_of) {
    return [rows_of](std::span<const Record* const> records) {
      return records.front()->memory ? rows_of(*records.front()->memory) : std::vector<StudyRow>{};
    };
  };
  return {
      .name = "memory",
      .title = "Peak memory of a step, and what holds it",
      .grids = {model_grid({"64", "128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                           {"fp32", "bf16"})},
      .tables = {{
          .caption = "Peaks of two steps in a pass of their own, and what the allocated one holds (bench/counters.md); "
                     "forward is without a graph",
          .spread = {},
          .columns = {mebibytes_column("allocated MiB", "peak_allocated_bytes"),
                      mebibytes_column("reserved MiB", "peak_reserved_bytes"),
                      split_column("parameters MiB", {"parameters"}), split_column("gradients MiB", {"gradients"}),
                      split_column("optimizer MiB", {"optimizer_state"}), split_column("casts MiB", {"casts"}),
                      split_column("activations MiB", {"activations"}),
                      split_column("temporaries MiB",
                                   {"forward_temporaries", "backward_temporaries", "optimizer_temporaries"}),
                      split_column("rest MiB", {"inputs", "results", "workspaces", "other"}),
                      number_column("median ms", "median_ms"), whole_column("tokens/s", "tokens_per_second")},
      }},
      .row_tables = {{.caption = "By phase of a step: the highest allocated bytes within it, and those at its end",
                      .names = {"phase"},
                      .quantities = {{"peak MiB", &render::format_thousands}, {"held MiB", &render::format_thousands}},
                      .detail = "held MiB by class",
                      .rows_of = of_memory(&phase_rows)},
                     {.caption = "What of a step is live at its peak, by the range in which it was allocated",
                      .names = {"range"},
                      .quantities = {{"MiB", &render::format_number},
                                     {"% of peak", &render::format_number},
                                     {"allocations", &render::format_thousands}},
                      .detail = {},
                      .rows_of = of_memory(&range_rows)},
                     {.caption = "The largest of those allocations",
                      .names = {"range"},
                      .quantities = {{"MiB", &render::format_number}},
                      .detail = {},
                      .rows_of = of_memory(&allocation_rows)}},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "memory", .order = 40, .make = &memory_study});

}  // namespace
}  // namespace tbench::studies::memory

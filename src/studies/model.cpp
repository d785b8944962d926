// The studies of the whole model: the time and the memory of a step, and their growth with the size.
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::model {
namespace {

double tokens(const std::string& value, std::span<const ModelSize>) {
  return static_cast<double>(parse_integer(value).value());
}

double parameters(const std::string& value, std::span<const ModelSize> sizes) {
  const auto found = std::ranges::find(sizes, value, &ModelSize::name);
  if (found == sizes.end()) throw std::out_of_range{"scaling: no size '" + value + "'"};
  return static_cast<double>(parameter_count(*found));
}

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

/// Returns the median step time minus the medians of the phases. The medians may come from different steps.
std::optional<double> outside_phases_ms(const Record& record) {
  if (!record.timing || record.timing->phases.empty()) return std::nullopt;
  Seconds rest = record.timing->median;
  for (const PhaseTime& phase : record.timing->phases) rest = rest - phase.median;
  return to_milliseconds(rest);
}

/// The cost of a step by size, context, pass and precision: time, spread, throughput, memory and phases.
Study end_to_end_study() {
  return {.name = "end_to_end",
          .title = "Time, throughput and peak memory of a step",
          .grids = {model_grid({"64", "128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                               {"fp32", "tf32", "bf16", "fp16"})},
          .tables = {{
              .caption = "Means over the samples, tokens/s of the mean; phases are medians between events at their "
                         "boundaries",
              .spread = {},
              .columns = {number_column("mean ms", "mean_ms"),
                          number_column("std ms", "std_ms"),
                          mean_tokens_column(),
                          mebibytes_column("allocated MiB", "peak_allocated_bytes"),
                          mebibytes_column("reserved MiB", "peak_reserved_bytes"),
                          number_column("forward ms", "forward_ms"),
                          number_column("backward ms", "backward_ms"),
                          number_column("optimizer ms", "optimizer_ms"),
                          ratio_column("backward / forward", "backward_ms", "forward_ms"),
                          {.header = "step - phases ms", .value = outside_phases_ms, .format = &render::format_number}},
          }}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "end_to_end", .order = 10, .make = &end_to_end_study});

/// The cost of a step by implementation and by execution, on a stream or as a CUDA graph.
Study step_study() {
  FamilyGrid grid = model_grid({"512"}, {"forward", "forward_backward", "train_step"}, {"bf16"});
  grid.axes.back() = {"impl", {"eager", "sdpa", "flash", "fused", "compiled"}};
  grid.axes.push_back({"exec", {"stream", "graph"}, "stream"});
  return {
      .name = "step",
      .title = "A step by implementation and execution",
      .grids = {std::move(grid)},
      .tables = {{.caption = "Median ms: operation by operation on a stream, or as CUDA graphs (exec:graph). A "
                             "speed-up is the time of sdpa on a stream over the case's",
                  .spread = {"impl", "exec"},
                  .columns = {step_time_column()},
                  .speed_up = StudySpeedUp{.base = {{"impl", "sdpa"}, {"exec", ""}}},
                  .has_bars = true},
                 {.caption =
                      "Median ms against torch.compile: a speed-up is the time of compiled over the case's, both on a "
                      "stream or both as CUDA graphs",
                  .spread = {"impl"},
                  .columns = {step_time_column()},
                  .speed_up = StudySpeedUp{.base = {{"impl", "compiled"}}},
                  .needs_base = true},
                 {.caption = "Peak allocated MiB; of graphs in the step that is captured",
                  .spread = {"impl", "exec"},
                  .columns = {mebibytes_column("MiB", "peak_allocated_bytes")},
                  .has_bars = true}},
      .if_known = {{"Model", {"impl", {"compiled"}}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "step", .order = 210, .make = &step_study});

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
                      .rows_of = of_memory(&allocation_rows)}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "memory", .order = 40, .make = &memory_study});

/// The longest context of each size, pass and precision that fits into memory. The flag --tb_memory_limit imitates a
/// smaller GPU.
Study oom_boundary_study() {
  return {.name = "oom_boundary",
          .title = "The longest context that fits into memory",
          .grids = {model_grid({"512", "1024", "2048", "4096", "8192"}, {"forward", "forward_backward", "train_step"},
                               {"fp32", "bf16"})},
          .tables = {{.caption = "Peak allocated MiB by context",
                      .spread = {"ctx"},
                      .columns = {mebibytes_column("MiB", "peak_allocated_bytes")},
                      .has_boundary = true}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "oom_boundary", .order = 200, .make = &oom_boundary_study});

/// The growth of a step's time with the context and with the model.
Study scaling_study() {
  const std::vector<StudyColumn> columns{number_column("ms", "median_ms")};
  return {.name = "scaling",
          .title = "Time against context and against parameters",
          .grids = {model_grid({"128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                               {"fp32", "bf16"})},
          .tables = {{.caption = "Median ms by context; time ~ ctx^exponent, without cases that the host limits",
                      .spread = {"ctx"},
                      .columns = columns,
                      .fit = StudyFit{.of = "ctx", .x = tokens}},
                     {.caption = "Median ms by size; time ~ parameters^exponent, without cases that the host limits",
                      .spread = {"size"},
                      .columns = columns,
                      .fit = StudyFit{.of = "parameters", .x = parameters}},
                     {.caption = "Backward over forward by context",
                      .spread = {"ctx"},
                      .columns = {ratio_column("x", "backward_ms", "forward_ms")},
                      .only = {{"pass", "forward_backward"}}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "scaling", .order = 50, .make = &scaling_study});

}  // namespace
}  // namespace tbench::studies::model

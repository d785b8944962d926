// The studies of the whole model: the time of a step, its growth with the size, and what fits into memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/pivot.hpp"

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

/// Returns the median step time minus the medians of the phases. The medians may come from different steps.
std::optional<double> outside_phases_ms(const Record& record) {
  if (!record.timing || record.timing->phases.empty()) return std::nullopt;
  Seconds rest = record.timing->median;
  for (const PhaseTime& phase : record.timing->phases) rest = rest - phase.median;
  return to_milliseconds(rest);
}

/// Returns the percentage of the step's time in which the GPU works, or nullopt if either is unknown.
std::optional<double> gpu_percent(const StudyMeasurements& all, const CaseId& id) {
  const auto own = median_of(all.records_of(id), "device_ms");
  const auto step = median_of(all.records_of(id), "median_ms");
  return own && step && *step > 0 ? std::optional{100 * *own / *step} : std::nullopt;
}

/// Returns a sentence about the steps that the host limits; none if there is no such step.
std::vector<std::string> host_sentences(const StudyMeasurements& all) {
  static const std::vector<std::string> kNamed{"size", "ctx", "pass", "precision"};
  std::size_t timed = 0, limited = 0;
  NamedRange percent;
  for (const CaseId& id : all.cases) {
    if (!median_of(all.records_of(id), "median_ms")) continue;
    ++timed;
    if (!is_limited_by_host(all, id)) continue;
    ++limited;
    if (const auto own = gpu_percent(all, id)) percent.add(*own, join(render::values_of(id, kNamed), " "));
  }
  if (limited == 0) return {};
  std::string text = fmt::format(
      "The host limits {} of {} steps (h): their times depend on the machine's host and not on the GPU alone.", limited,
      timed);
  if (percent.count > 0) {
    text += fmt::format(" In them the GPU works for {} of the step; GPU ms is this time.", percent.text("%"));
  }
  return {std::move(text)};
}

/// The cost of a step by size, context, pass and precision: time, spread, throughput, memory and phases.
Study end_to_end_study() {
  return {.name = "end_to_end",
          .title = "Time, throughput and peak memory of a step",
          .grids = {model_grid({"64", "128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                               {"fp32", "tf32", "bf16", "fp16"})},
          .tables = {{
              .caption = "Means over the samples, tokens/s of the mean; GPU ms is the GPU's own time in a step, from a "
                         "trace; phases are medians between events at their boundaries",
              .spread = {},
              .columns = {number_column("mean ms", "mean_ms"),
                          number_column("std ms", "std_ms"),
                          number_column("GPU ms", "device_ms"),
                          mean_tokens_column(),
                          mebibytes_column("allocated MiB", "peak_allocated_bytes"),
                          mebibytes_column("reserved MiB", "peak_reserved_bytes"),
                          number_column("forward ms", "forward_ms"),
                          number_column("backward ms", "backward_ms"),
                          number_column("optimizer ms", "optimizer_ms"),
                          ratio_column("backward / forward", "backward_ms", "forward_ms"),
                          {.header = "step - phases ms", .value = outside_phases_ms, .format = &render::format_number}},
          }},
          .conclude = &host_sentences};
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

/// Returns how forward's time grows between the two longest contexts, by the GPU's own time, over the sizes. A power of
/// 2 is the growth of attention's scores; all other products grow linearly.
std::string growth_sentence(const StudyMeasurements& all, const std::string& precision) {
  const auto time = [&all](const CaseId& id) { return median_of(all.records_of(id), "device_ms"); };
  NamedRange exponents;
  std::set<std::pair<std::string, std::string>> intervals;
  for (const ModelSize& size : all.sizes) {
    const auto growth =
        growth_over(all, "ctx", {{"size", size.name}, {"pass", "forward"}, {"precision", precision}}, time);
    if (!growth) continue;
    exponents.add(growth->exponent, size.name);
    intervals.emplace(growth->from, growth->to);
  }
  if (intervals.size() != 1) return "";  // nothing was measured, or the sizes have different contexts
  return fmt::format(
      "From {} to {} tokens, the GPU's own time of forward in {} grows with the context to the power of {}. {}.",
      intervals.begin()->first, intervals.begin()->second, precision, exponents.text(),
      exponents.high < 2 ? "That is less than 2, the power of attention's scores: all other operations grow at most "
                           "linearly"
                         : "That is at least 2, the power of attention's scores, in the size with the steepest growth");
}

std::vector<std::string> growth_sentences(const StudyMeasurements& all) {
  std::vector<std::string> found{growth_sentence(all, "fp32"), growth_sentence(all, "bf16")};
  std::erase(found, "");
  return found;
}

/// The growth of a step's time with the context and with the model.
Study scaling_study() {
  const std::vector<StudyColumn> columns{step_time_column()};
  return {
      .name = "scaling",
      .title = "Time against context and against parameters",
      .grids = {model_grid({"128", "256", "512", "1024"}, {"forward", "forward_backward", "train_step"},
                           {"fp32", "bf16"})},
      .tables =
          {{.caption = "Median ms by context; time ~ ctx^exponent, by the GPU's own time in rows that the host limits",
            .spread = {"ctx"},
            .columns = columns,
            .fit = StudyFit{.of = "ctx", .x = tokens}},
           {.caption =
                "Median ms by size; time ~ parameters^exponent, by the GPU's own time in rows that the host limits",
            .spread = {"size"},
            .columns = columns,
            .fit = StudyFit{.of = "parameters", .x = parameters}},
           {.caption = "Backward over forward by context",
            .spread = {"ctx"},
            .columns = {ratio_column("x", "backward_ms", "forward_ms")},
            .only = {{"pass", "forward_backward"}}}},
      .conclude = &growth_sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "scaling", .order = 50, .make = &scaling_study});

}  // namespace
}  // namespace tbench::studies::model

// The study of the batch: throughput and memory of a step with 1, 4 and 16 sequences.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::batch {
namespace {

constexpr const char* kBase = "4";  // the batch of the course's model

/// Returns a time in microseconds per token of a record's step, or nullopt if either is unknown.
std::optional<double> us_per_token(const Record& record, std::optional<double> ms) {
  if (!ms || !record.work || record.work->tokens == 0) return std::nullopt;
  return *ms * 1e3 / static_cast<double>(record.work->tokens);
}

StudyColumn time_per_token_column() {
  return {.header = "time per token us",
          .value = [](const Record& record) { return us_per_token(record, counter_of(record, "median_ms")); },
          .format = &render::format_number,
          .device = [](const Record& record) { return us_per_token(record, counter_of(record, "device_ms")); }};
}

/// Returns by which factor the case has more tokens per second than with the base's batch, from the medians of a time;
/// nullopt without both.
std::optional<double> throughput_gain(const StudyMeasurements& all, const CaseId& id, const CaseId& base,
                                      const std::string& time) {
  const auto factor = factor_over(all, id, "batch", kBase, time);
  if (!factor) return std::nullopt;
  return *factor * static_cast<double>(id.int_at("batch")) / static_cast<double>(base.int_at("batch"));
}

/// Returns what a larger batch gains in one case: throughput, and the memory that this needs. The text is empty without
/// the times of both batches.
std::string sentence(const StudyMeasurements& all, const CaseId& id) {
  const CaseId base = with_value(id, "batch", kBase);
  const auto gain = throughput_gain(all, id, base, "median_ms");
  if (!gain) return "";
  std::string text = fmt::format(
      "Batch {} instead of {}, {} of {} with {} tokens in {}: {} times the tokens per second", id.at("batch"), kBase,
      id.at("pass"), id.at("size"), id.at("ctx"), id.at("precision"), render::format_number(*gain));
  const auto on_gpu = throughput_gain(all, id, base, "device_ms");
  if (on_gpu && (is_limited_by_host(all, base) || is_limited_by_host(all, id))) {
    text += fmt::format(", because the host limits batch {}; {} times by the GPU's own time",
                        is_limited_by_host(all, id) ? id.at("batch") : kBase, render::format_number(*on_gpu));
  }
  if (const auto less = factor_over(all, id, "batch", kBase, "peak_allocated_bytes")) {
    text += fmt::format("; {} times the peak memory", render::format_number(1 / *less));
  }
  return text + ".";
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  for (const CaseId& id : all.cases) {
    if (id.int_at("batch") > *parse_integer(kBase)) found.push_back(sentence(all, id));
  }
  std::erase(found, "");
  return found;
}

/// The gain of a larger batch: more work per kernel, and the weights read once for more tokens.
Study batch_study() {
  FamilyGrid grid = model_grid({"512"}, {"forward", "train_step"}, {"fp32", "bf16"});
  const auto axis = std::ranges::find(grid.axes, "batch", &Axis::key);
  axis->values = {"1", kBase, "16"};
  return {.name = "batch",
          .title = "Throughput and memory of a step by batch",
          .grids = {std::move(grid)},
          .tables = {{.caption = "Median time of a step per token. A speed-up is the time with batch 4 over the case's",
                      .spread = {"batch"},
                      .columns = {time_per_token_column()},
                      .speed_up = StudySpeedUp{.base = {{"batch", kBase}}}},
                     {.caption = "Peak allocated MiB",
                      .spread = {"batch"},
                      .columns = {mebibytes_column("MiB", "peak_allocated_bytes")}}},
          .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "batch", .order = 55, .make = &batch_study});

}  // namespace
}  // namespace tbench::studies::batch

// Measures what fused operations gain over separate ones: time, kernels and memory of a step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::fusion {
namespace {

constexpr const char* kSeparate = "eager";
constexpr const char* kShownSize = "medium";

std::optional<double> kernels_of(const Record& record) {
  return record.trace ? std::optional{kernels_per_step(*record.trace)} : std::nullopt;
}

/// Returns the GPU's time in milliseconds for attention without its projections and rotations, summed over the layers
/// of the forward pass; nullopt if the trace has none of its ranges.
std::optional<double> attention_of(const Record& record) {
  if (!record.trace) return std::nullopt;
  const Seconds sum =
      forward_time_of(*record.trace, {"attention.scores", "attention.softmax", "attention.context", "attention.core"});
  return sum.value > 0 ? std::optional{to_milliseconds(sum)} : std::nullopt;
}

/// A figure of a case, and the same figure with separate operations.
struct Pair {
  double fused{};
  double separate{};
};

/// Returns the medians of a figure over the records of both cases, or nullopt unless both have it.
template <class Figure>
std::optional<Pair> pair_of(const StudyMeasurements& all, const CaseId& fused, const Figure& figure) {
  const auto own = median_of(all.records_of(fused), figure);
  const auto base = median_of(all.records_of(with_value(fused, "impl", kSeparate)), figure);
  return own && base && *own > 0 && *base > 0 ? std::optional{Pair{.fused = *own, .separate = *base}} : std::nullopt;
}

/// Returns what else changes in one size, as `; medium has 533 kernels instead of 1,618, 0.48 ms for forward's
/// attention without projections instead of 10.1, 5 % less memory`, without the figures that are missing.
std::string of_one_size(const StudyMeasurements& all, const CaseId& fused) {
  std::vector<std::string> parts;
  if (const auto kernels = pair_of(all, fused, std::function{&kernels_of})) {
    parts.push_back(fmt::format("{} kernels instead of {}", render::format_thousands(kernels->fused),
                                render::format_thousands(kernels->separate)));
  }
  if (const auto attention = pair_of(all, fused, std::function{&attention_of})) {
    parts.push_back(fmt::format("{} ms for forward's attention without projections instead of {}",
                                render::format_number(attention->fused), render::format_number(attention->separate)));
  }
  if (const auto memory = pair_of(all, fused, std::string{"peak_allocated_bytes"})) {
    const double percent = 100 * (memory->fused / memory->separate - 1);
    parts.push_back(fmt::format("{:.0f} % {} memory", std::abs(percent), percent < 0 ? "less" : "more"));
  }
  return parts.empty() ? "" : fmt::format("; {} has {}", fused.at("size"), join(parts, ", "));
}

/// Returns the gain of an implementation in a pass, or an empty text if no size has both times.
std::string sentence(const StudyMeasurements& all, const std::string& impl, const std::string& pass) {
  const std::vector<CaseId::Parameter> parameters{{"pass", pass}, {"precision", "bf16"}, {"impl", impl}};
  const NamedRange gains =
      range_over_sizes(all, parameters, [&](const CaseId& id) { return gain_over(all, id, "impl", kSeparate); });
  if (gains.count == 0) return "";
  const auto shown = std::ranges::find_if(
      all.cases, [&](const CaseId& id) { return has_all(id, parameters) && id.at("size") == kShownSize; });
  return fmt::format(
      "{} instead of separate operations, {} with 512 tokens in bf16: a factor of {} by the GPU's own "
      "time{}.",
      impl == "sdpa" ? "LibTorch's fused attention, norm, loss and AdamW (sdpa)" : "A step of our kernels (fused)",
      pass, gains.text(), shown == all.cases.end() ? "" : of_one_size(all, *shown));
}

std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  for (const char* const impl : {"sdpa", "fused"}) {
    for (const char* const pass : {"forward", "train_step"}) found.push_back(sentence(all, impl, pass));
  }
  std::erase(found, "");
  if (!found.empty()) {
    found.push_back(
        "A fused attention kernel neither stores the scores in memory nor loads them again, as the separate kernels of "
        "softmax do.");
  }
  return found;
}

/// The gain of fusion: LibTorch's fused operators (`sdpa`), and a step of our own kernels (`fused`).
Study fusion_study() {
  FamilyGrid grid = model_grid({"512"}, {"forward", "train_step"}, {"bf16"});
  grid.axes.back() = {"impl", {kSeparate, "sdpa", "fused"}};
  return {
      .name = "fusion",
      .title = "What fused operations gain over separate ones",
      .grids = {std::move(grid)},
      .protocol = {.needs_trace = true},
      .tables = {{.caption = "Median ms. sdpa takes LibTorch's fused operators for attention, norm, loss and AdamW, "
                             "and one product for q, k and v; fused is a step of our own kernels. A speed-up is the "
                             "time of eager over the case's",
                  .spread = {"impl"},
                  .columns = {step_time_column()},
                  .speed_up = StudySpeedUp{.base = {{"impl", kSeparate}}}},
                 {.caption = "Of a step: the GPU's own time, that of forward's attention without projections and "
                             "rotations, kernels, and peak allocated memory",
                  .spread = {},
                  .columns = {number_column("GPU ms", "device_ms"),
                              {.header = "attention ms", .value = &attention_of, .format = &render::format_number},
                              {.header = "kernels", .value = &kernels_of, .format = &count_text},
                              mebibytes_column("allocated MiB", "peak_allocated_bytes")}}},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "fusion", .order = 188, .make = &fusion_study});

}  // namespace
}  // namespace tbench::studies::fusion

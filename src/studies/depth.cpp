// The time of a model of full depth, from the times of the same model with fewer layers: most published sizes do not
// train whole in the memory of one GPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/case_parameters.hpp"
#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::depth {
namespace {

constexpr double kRanks = 8;  // GPUs that share the optimizer's work

using Figure = std::function<std::optional<double>(const StudyMeasurements&, const CaseId&)>;

/// A shortened model's measurement.
struct Point {
  double layers{};
  double value{};
  double error{};  // half of the value's 95 % interval; 0 if unknown
};

/// Returns the case's median of a counter in milliseconds; nullopt if the host limits the case.
Figure median(const char* counter) {
  return [counter](const StudyMeasurements& all, const CaseId& id) -> std::optional<double> {
    if (is_limited_by_host(all, id)) return std::nullopt;
    return median_of(all.records_of(id), counter);
  };
}

std::optional<std::int64_t> layers_of(const CaseId& id) {
  const std::string* const value = id.find(kLayersKey);
  return value == nullptr ? std::nullopt : parse_integer(*value);
}

/// Returns the case of the whole model, whose name has no number of layers.
CaseId whole(const CaseId& id) { return without(id, {kLayersKey}); }

/// Returns the measurements of a model with fewer layers, in the order of the study.
std::vector<Point> points_of(const StudyMeasurements& all, const CaseId& model, const Figure& figure) {
  std::vector<Point> points;
  for (const CaseId& id : all.cases) {
    const auto layers = layers_of(id);
    if (!layers || whole(id) != model) continue;
    const auto value = figure(all, id);
    if (value)
      points.push_back({static_cast<double>(*layers), *value, *value * relative_half_width(all.records_of(id))});
  }
  return points;
}

/// A value on the line of least squares through some points.
struct OnLine {
  double value{};
  double error{};  // half of its 95 % interval, from those of the points
};

/// Returns the line's value at a number of layers, or its slope. Both are sums of the points' values with weights.
/// @param layers  nullopt for the slope, per layer
/// @return        nullopt for fewer than two numbers of layers
std::optional<OnLine> on_line(const std::vector<Point>& points, std::optional<double> layers) {
  const auto count = static_cast<double>(points.size());
  double mean = 0, squares = 0;
  for (const Point& point : points) mean += point.layers / count;
  for (const Point& point : points) squares += (point.layers - mean) * (point.layers - mean);
  if (squares <= 0) return std::nullopt;
  OnLine result;
  for (const Point& point : points) {
    const double slope_weight = (point.layers - mean) / squares;
    const double weight = layers ? 1 / count + (*layers - mean) * slope_weight : slope_weight;
    result.value += weight * point.value;
    result.error = std::hypot(result.error, weight * point.error);
  }
  return result;
}

/// The shortened model with the most layers among the measured ones. Its row has the columns about the whole model.
struct Deepest {
  CaseId model;     // without `layers`
  double layers{};  // of the whole model
  std::vector<Point> steps;
};

std::optional<Deepest> deepest(const StudyCase& of) {
  const CaseId& id = of.records.front()->id;
  const auto layers = layers_of(id);
  if (!layers) return std::nullopt;
  CaseId model = whole(id);
  const std::optional<ModelSize> size = model_size_of(model, of.all.sizes);
  std::vector<Point> steps = points_of(of.all, model, median("median_ms"));
  const bool has_deeper =
      std::ranges::any_of(steps, [&](const Point& point) { return point.layers > static_cast<double>(*layers); });
  if (!size || has_deeper) return std::nullopt;
  return Deepest{std::move(model), static_cast<double>(size->num_layers), std::move(steps)};
}

/// Returns a column that only the deepest case of a model fills.
StudyColumn of_deepest(std::string header, std::function<std::optional<double>(const StudyCase&, const Deepest&)> value,
                       std::string (*format)(double) = &render::format_number) {
  return {.header = std::move(header),
          .value = {},
          .format = format,
          .of_case = [value = std::move(value)](const StudyCase& of) -> std::optional<double> {
            const std::optional<Deepest> found = deepest(of);
            return found ? value(of, *found) : std::nullopt;
          }};
}

std::optional<double> value_at(const Deepest& deepest, std::optional<double> layers) {
  const auto found = on_line(deepest.steps, layers);
  return found ? std::optional{found->value} : std::nullopt;
}

std::optional<double> whole_ms(const StudyCase&, const Deepest& deepest) { return value_at(deepest, deepest.layers); }

std::optional<double> whole_error_percent(const StudyCase&, const Deepest& deepest) {
  const auto found = on_line(deepest.steps, deepest.layers);
  return found && found->value > 0 ? std::optional{100 * found->error / found->value} : std::nullopt;
}

/// Returns the tokens per second at a step time in milliseconds.
std::optional<double> tokens_per_second(const StudyCase& of, std::optional<double> ms) {
  const Record& record = *of.records.front();
  if (!ms || *ms <= 0 || !record.work || record.work->tokens == 0) return std::nullopt;
  return 1e3 * static_cast<double>(record.work->tokens) / *ms;
}

/// Returns the whole model's step time in milliseconds if the optimizer's work were divided among kRanks GPUs. Returns
/// nullopt if the step time or the optimizer's time is known for fewer than two numbers of layers.
std::optional<double> sharded_ms(const StudyCase& of, const Deepest& deepest) {
  const auto all = whole_ms(of, deepest);
  const auto optimizer = on_line(points_of(of.all, deepest.model, median("optimizer_ms")), deepest.layers);
  if (!all || !optimizer) return std::nullopt;
  return *all - optimizer->value * (1 - 1 / kRanks);
}

/// Returns the extrapolated time over the whole model's median, if that was measured.
std::optional<double> over_measured(const StudyCase& of, const Deepest& deepest) {
  const auto extrapolated = whole_ms(of, deepest);
  const auto measured = median("median_ms")(of.all, deepest.model);
  return extrapolated && measured && *measured > 0 ? std::optional{*extrapolated / *measured} : std::nullopt;
}

/// @param layers  empty for whole sizes
FamilyGrid published_grid(std::vector<std::string> sizes, std::vector<std::string> layers) {
  FamilyGrid grid{.family = "Model",
                  .axes = {{"size", std::move(sizes)},
                           {"ctx", {"2048"}},
                           {"batch", {"1"}},
                           {"pass", {"forward", "train_step"}},
                           {"precision", {"bf16"}},
                           {"impl", {"sdpa", "fused"}}}};
  if (!layers.empty()) grid.axes.push_back({std::string{kLayersKey}, std::move(layers)});
  return grid;
}

/// The time of a step by layers, and the line through these times at full depth. Sizes that train whole in 80 GB are
/// measured whole, too, and show how far the line is off.
Study depth_study() {
  return {.name = "depth",
          .title = "A step of full depth, from models with fewer layers",
          .grids = {published_grid({"llama3.2-1B", "llama3.2-3B", "llama3.1-8B", "qwen3-0.6B", "qwen3-4B", "qwen3-8B",
                                    "cs336-leaderboard"},
                                   {"4", "8"}),
                    published_grid({"llama3.2-1B", "qwen3-0.6B"}, {})},
          .tables = {
              {.caption =
                   "Median ms of a step with some of the size's layers, or with all. The row of the deepest shortened "
                   "model has the line through them, by least squares without steps that the host limits: the time "
                   "per layer, the time outside the layers, and the extrapolated time of all layers, with the error "
                   "that follows from the medians' intervals. Sharded: the same on one of 8 GPUs that share the "
                   "optimizer's work, without their communication",
               .spread = {},
               .columns =
                   {step_time_column(),
                    of_deepest("per layer ms",
                               [](const StudyCase&, const Deepest& d) { return value_at(d, std::nullopt); }),
                    of_deepest("outside layers ms", [](const StudyCase&, const Deepest& d) { return value_at(d, 0); }),
                    of_deepest(
                        "all layers", [](const StudyCase&, const Deepest& d) { return std::optional{d.layers}; },
                        &render::format_thousands),
                    of_deepest("extrapolated ms", &whole_ms), of_deepest("+- %", &whole_error_percent),
                    of_deepest(
                        "extrapolated tokens/s",
                        [](const StudyCase& of, const Deepest& d) { return tokens_per_second(of, whole_ms(of, d)); },
                        &render::format_thousands),
                    of_deepest("sharded ms", &sharded_ms),
                    of_deepest(
                        "sharded tokens/s",
                        [](const StudyCase& of, const Deepest& d) { return tokens_per_second(of, sharded_ms(of, d)); },
                        &render::format_thousands),
                    of_deepest("extrapolated / measured", &over_measured)},
               .together_before = std::string{kLayersKey}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "depth", .order = 215, .make = &depth_study});

}  // namespace
}  // namespace tbench::studies::depth

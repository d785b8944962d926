#include "studies/side_by_side/headline_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "studies/side_by_side/headline_quantities.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;
using Quantity = std::optional<double> (*)(const HeadlineStep&);

struct MeanRatio {
  double value{};
  std::size_t sizes{};
};

/// Returns the ratio of a quantity on two GPU models, as the geometric mean over the sizes in which both have it;
/// nullopt if there is no such size.
std::optional<MeanRatio> mean_ratio(const HeadlineSteps& steps, const HeadlineGpu& gpu, const HeadlineGpu& base,
                                    Quantity quantity) {
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> values;
  for (const HeadlineStep& step : steps.steps) {
    if (!step.record->timing) continue;
    if (step.gpu == &gpu) values[step.size].first = quantity(step);
    if (step.gpu == &base) values[step.size].second = quantity(step);
  }
  std::vector<double> ratios;
  for (const auto& [size, pair] : values) {
    if (pair.first && pair.second && *pair.second > 0) ratios.push_back(*pair.first / *pair.second);
  }
  if (ratios.empty()) return std::nullopt;
  return MeanRatio{stats::geometric_mean(ratios), ratios.size()};
}

/// Returns `17 % more on H200 than on H100` for a ratio of 1.17, or `as much on H200 as on H100`.
std::string cost_text(double ratio, const HeadlineGpu& gpu, const HeadlineGpu& base) {
  const double percent = std::round((ratio - 1) * 100);
  if (percent == 0) return fmt::format("as much on {} as on {}", gpu.name, base.name);
  return fmt::format("{:.0f} % {} on {} than on {}", std::abs(percent), percent > 0 ? "more" : "less", gpu.name,
                     base.name);
}

/// Returns the sentences that compare a GPU model with the first one.
Texts comparison_of(const HeadlineSteps& steps, const HeadlineGpu& gpu, const HeadlineGpu& base) {
  const std::optional<MeanRatio> rate = mean_ratio(steps, gpu, base, &tokens_per_second);
  if (!rate) return {fmt::format("{} and {} have no size with a time in common.", gpu.name, base.name)};
  Texts parts{fmt::format("{:.2f} times the tokens/s", rate->value)};
  if (const auto device = mean_ratio(steps, gpu, base, &gpu_ms)) {
    parts.push_back(fmt::format("{:.2f} times as fast by the GPU's own time", 1 / device->value));
  }
  if (const auto energy = mean_ratio(steps, gpu, base, &millijoules_per_token)) {
    parts.push_back(fmt::format("{:.2f} of the energy per token", energy->value));
  }
  return {fmt::format("{} against {} ({}): {}.", gpu.name, base.name,
                      counted(rate->sizes, "size", "sizes, geometric mean"), join(parts, ", ")),
          worth_sentence(rate->value, gpu, base, "For these steps", "a token")};
}

}  // namespace

std::vector<std::string> step_comparisons(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  Texts sentences;
  for (const HeadlineGpu& gpu : gpus.subspan(1)) {
    std::ranges::move(comparison_of(steps, gpu, gpus.front()), std::back_inserter(sentences));
  }
  return sentences;
}

std::string worth_sentence(double speed, const HeadlineGpu& gpu, const HeadlineGpu& base, const std::string& work,
                           const std::string& product) {
  std::string text =
      fmt::format("{}, an hour of {} is worth up to {:.2f} hours of {}", work, gpu.name, speed, base.name);
  if (base.price_per_hour) {
    text += fmt::format(": with {} at {:.2f} per hour, {} breaks even at {:.2f}", base.name, *base.price_per_hour,
                        gpu.name, *base.price_per_hour * speed);
  } else if (gpu.price_per_hour) {
    text += fmt::format(": with {} at {:.2f} per hour, {} breaks even at {:.2f}", gpu.name, *gpu.price_per_hour,
                        base.name, *gpu.price_per_hour / speed);
  }
  text += ".";
  if (!base.price_per_hour || !gpu.price_per_hour) return text;
  const double ratio = *gpu.price_per_hour / *base.price_per_hour / speed;
  return text + fmt::format(" At {:.2f}, {} costs {}.", *gpu.price_per_hour, product, cost_text(ratio, gpu, base));
}

}  // namespace tbench::studies

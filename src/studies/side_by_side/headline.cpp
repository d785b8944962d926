#include "tbench/studies/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "studies/side_by_side/headline_attention.hpp"
#include "studies/side_by_side/headline_quantities.hpp"
#include "studies/side_by_side/headline_steps.hpp"
#include "studies/side_by_side/headline_tables.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/summary.hpp"
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
  Texts sentences{fmt::format("{} against {} ({} size{}): {}.", gpu.name, base.name, rate->sizes,
                              rate->sizes == 1 ? "" : "s, geometric mean", join(parts, ", "))};
  if (const auto price = mean_ratio(steps, gpu, base, &price_of_billion)) {
    sentences.push_back(fmt::format("At {:.2f} and {:.2f} per hour, a token costs {:.2f} times as much on {} as on {}.",
                                    *gpu.price_per_hour, *base.price_per_hour, price->value, gpu.name, base.name));
  } else {
    sentences.push_back(
        fmt::format("For these steps, an hour of {} is worth {:.2f} hours of {}.", gpu.name, rate->value, base.name));
  }
  return sentences;
}

/// Returns the sentence on one GPU model by itself: its range of tokens/s and MFU.
std::string answer_of(const HeadlineSteps& steps, const HeadlineGpu& gpu) {
  std::vector<const HeadlineStep*> timed;
  for (const HeadlineStep& step : steps.steps) {
    if (step.gpu == &gpu && step.record->timing) timed.push_back(&step);
  }
  if (timed.empty()) return fmt::format("{}: no size has a time.", gpu.name);
  const auto rate = [](const HeadlineStep* step) { return tokens_per_second(*step).value_or(0); };
  const auto [least, most] = std::ranges::minmax(timed, {}, rate);
  std::string sentence =
      fmt::format("{}: {} tokens/s ({})", gpu.name, render::format_thousands(rate(most)), most->size);
  if (most != least) sentence += fmt::format(" to {} ({})", render::format_thousands(rate(least)), least->size);
  std::vector<double> utilizations;
  for (const HeadlineStep* const step : timed) {
    if (const auto percent = mfu_percent(*step)) utilizations.push_back(*percent);
  }
  if (utilizations.empty()) return sentence + ".";
  const auto [low, high] = std::ranges::minmax(utilizations);
  return low == high ? fmt::format("{}, MFU {:.1f} %.", sentence, low)
                     : fmt::format("{}, MFU {:.1f} to {:.1f} %.", sentence, low, high);
}

Texts answers_of(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus) {
  Texts answers;
  for (const HeadlineGpu& gpu : gpus.subspan(1)) {
    std::ranges::move(comparison_of(steps, gpu, gpus.front()), std::back_inserter(answers));
  }
  for (const HeadlineGpu& gpu : gpus) answers.push_back(answer_of(steps, gpu));
  return answers;
}

/// Returns the names of a GPU model's builds, or their number if there are many.
std::string builds_of(const HeadlineGpu& gpu) {
  constexpr std::size_t kMax = 3;
  return gpu.builds.size() > kMax ? fmt::format("{} builds", gpu.builds.size()) : join(gpu.builds, ", ");
}

/// Returns a line per file, or a line per GPU model if there are many files.
Texts sources_of(std::span<const results::NamedResults> results, std::span<const HeadlineGpu> gpus) {
  constexpr std::size_t kMax = 8;
  Texts sources;
  if (results.size() > kMax) {
    for (const HeadlineGpu& gpu : gpus) {
      sources.push_back(
          fmt::format("{}: {} file{}, {}", gpu.facts->name, gpu.files, gpu.files == 1 ? "" : "s", builds_of(gpu)));
    }
    return sources;
  }
  for (const results::NamedResults& result : results) {
    sources.push_back(source_line(result));
  }
  return sources;
}

/// Returns the notes: several records of a case, marks, power above the limit, and different builds.
Texts notes_of(const HeadlineSteps& steps, std::span<const HeadlineGpu> gpus, const std::string& used_marks) {
  Texts notes;
  std::size_t processes = 1;
  Texts above;
  for (const HeadlineStep& step : steps.steps) {
    processes = std::max(processes, step.processes);
    const std::optional<double> limit = step.gpu->facts->power_limit_w;
    if (!step.record->device || !step.record->device->power || !limit) continue;
    const double power = step.record->device->power->value;
    if (power > *limit) above.push_back(fmt::format("{} {} {:.0f} W", step.size, step.gpu->name, power));
  }
  if (processes > 1)
    notes.push_back(fmt::format("Several measurements of a case: the middle one (of at most {}).", processes));
  for (const std::string& meaning : render::legend_of(used_marks)) notes.push_back(meaning + ".");
  if (!above.empty()) {
    notes.push_back(fmt::format("NVML reports more power than the limit, because it averages: {}.", join(above, ", ")));
  }
  Texts prices;
  for (const HeadlineGpu& gpu : gpus) {
    if (gpu.price_per_hour) prices.push_back(fmt::format("{} {:.2f}", gpu.name, *gpu.price_per_hour));
  }
  if (!prices.empty()) {
    notes.push_back(fmt::format("price/1e9: what 10^9 tokens cost at these prices per hour: {}.", join(prices, ", ")));
  }
  std::set<std::string> builds;
  Texts parts;
  for (const HeadlineGpu& gpu : gpus) {
    builds.insert(gpu.builds.begin(), gpu.builds.end());
    parts.push_back(fmt::format("{} {}", gpu.name, builds_of(gpu)));
  }
  if (builds.size() > 1 && gpus.size() > 1) {
    notes.push_back(fmt::format("The builds differ: {}. A difference between builds shows as one between GPUs.",
                                join(parts, "; ")));
  }
  return notes;
}

}  // namespace

GpuPrice parse_price(const std::string& text, const std::string& flag) {
  const std::size_t place = text.rfind('=');
  const char* const end = text.data() + text.size();
  double price = 0;
  if (place != std::string::npos && place > 0) {
    const auto [stop, error] = std::from_chars(text.data() + place + 1, end, price);
    if (error == std::errc{} && stop == end && price > 0 && std::isfinite(price)) {
      return {.gpu = text.substr(0, place), .per_hour = price};
    }
  }
  throw UsageError{fmt::format("{}: '{}' is not GPU=PRICE with a price per hour above 0, e.g. H100=2.00", flag, text)};
}

StudyReport headline_report(std::span<const results::NamedResults> results, const HeadlineOptions& options) {
  const std::vector<HeadlineGpu> gpus = headline_gpus(results, options);
  const HeadlineSteps steps = headline_steps(gpus);
  StudyReport report;
  report.title = "headline: " + headline_work(steps);
  report.sources = sources_of(results, gpus);
  std::string used_marks;
  report.answers = answers_of(steps, gpus);
  report.sections.push_back(headline_steps_section(steps, used_marks));
  if (auto section = headline_memory_section(gpus)) {
    report.answers.push_back(fmt::format("{} case{} on one of the GPUs alone: another lacks the memory.",
                                         section->rows.size(), section->rows.size() == 1 ? " runs" : "s run"));
    report.sections.push_back(std::move(*section));
  }
  if (auto attention = headline_attention(gpus)) {
    std::ranges::move(attention->answers, std::back_inserter(report.answers));
    report.sections.push_back(std::move(attention->section));
  }
  report.notes = notes_of(steps, gpus, used_marks);
  return report;
}

}  // namespace tbench::studies

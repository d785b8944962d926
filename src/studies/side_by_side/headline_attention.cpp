#include "studies/side_by_side/headline_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "studies/side_by_side/headline_comparison.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::studies {
namespace {

using render::Align;

constexpr std::string_view kOurs = "flash";
constexpr std::string_view kTheirs = "sdpa_";

/// The medians of one shape by implementation, in seconds.
struct Shape {
  CaseId id;  // without `impl`
  std::map<std::string, std::vector<double>> times;
};

struct Ratio {
  double value{};     // time of the fastest `sdpa_*` over that of `flash`
  std::string shape;  // without pass, mask and precision
};

/// A row: one pass, mask and precision on one GPU model.
struct Group {
  const HeadlineGpu* gpu{};
  std::string pass, mask, precision;
  std::vector<Ratio> ratios{};
};

std::vector<Shape> shapes_of(const HeadlineGpu& gpu) {
  std::vector<Shape> shapes;
  std::map<std::string, std::size_t> places;
  for (const Record* const record : gpu.records) {
    const std::string* const impl = record->id.find("impl");
    if (record->id.family() != "Attention" || impl == nullptr || !record->timing || is_host_bound(*record)) continue;
    CaseId id = without(record->id, {"impl"});
    const auto [place, is_new] = places.try_emplace(id.name(), shapes.size());
    if (is_new) shapes.push_back({.id = std::move(id), .times = {}});
    shapes[place->second].times[*impl].push_back(record->timing->median.value);
  }
  return shapes;
}

std::optional<double> ratio_of(const Shape& shape) {
  const auto ours = shape.times.find(std::string{kOurs});
  if (ours == shape.times.end()) return std::nullopt;
  std::optional<double> theirs;
  for (const auto& [impl, times] : shape.times) {
    if (!impl.starts_with(kTheirs)) continue;
    const double time = stats::median(times);
    theirs = theirs ? std::min(*theirs, time) : time;
  }
  if (!theirs) return std::nullopt;
  return *theirs / stats::median(ours->second);
}

std::vector<Group> groups_of(const HeadlineGpu& gpu) {
  std::vector<Group> groups;
  for (const Shape& shape : shapes_of(gpu)) {
    const std::optional<double> ratio = ratio_of(shape);
    if (!ratio) continue;
    const Group key{.gpu = &gpu,
                    .pass = value_or_empty(shape.id, "pass"),
                    .mask = value_or_empty(shape.id, "causal") == "1" ? "causal" : "none",
                    .precision = value_or_empty(shape.id, "precision")};
    const auto is_same = [&](const Group& g) {
      return g.pass == key.pass && g.mask == key.mask && g.precision == key.precision;
    };
    auto found = std::ranges::find_if(groups, is_same);
    if (found == groups.end()) found = groups.insert(groups.end(), key);
    found->ratios.push_back({*ratio, keys_and_values(without(shape.id, {"pass", "causal", "precision"}))});
  }
  return groups;
}

/// Returns the medians of `flash` by shape, in one precision.
std::map<std::string, double> flash_times(const HeadlineGpu& gpu, const std::string& precision) {
  std::map<std::string, double> times;
  for (const Shape& shape : shapes_of(gpu)) {
    const auto ours = shape.times.find(std::string{kOurs});
    const bool counts = ours != shape.times.end() && value_or_empty(shape.id, "precision") == precision;
    if (counts) times.emplace(shape.id.name(), stats::median(ours->second));
  }
  return times;
}

/// Returns the sentences that compare the speed of `flash` on a GPU model with that on the first one.
std::vector<std::string> comparison_of(const HeadlineGpu& gpu, const HeadlineGpu& base, const std::string& precision) {
  const std::map<std::string, double> of_base = flash_times(base, precision);
  std::vector<double> speeds;
  for (const auto& [shape, time] : flash_times(gpu, precision)) {
    if (const auto other = of_base.find(shape); other != of_base.end()) speeds.push_back(other->second / time);
  }
  if (speeds.empty()) {
    return {
        fmt::format("Attention in {}: {} and {} have no shape of flash in common.", precision, gpu.name, base.name)};
  }
  const double speed = stats::geometric_mean(speeds);
  return {fmt::format("Attention in {} by flash, {} against {} ({}): {:.2f} times as fast.", precision, gpu.name,
                      base.name, counted(speeds.size(), "shape", "shapes, geometric mean"), speed),
          worth_sentence(speed, gpu, base, "For attention", "the same attention")};
}

double mean_of(std::span<const Ratio> ratios) {
  std::vector<double> values;
  for (const Ratio& ratio : ratios) values.push_back(ratio.value);
  return stats::geometric_mean(values);
}

std::size_t lost(std::span<const Ratio> ratios) {
  return static_cast<std::size_t>(std::ranges::count_if(ratios, [](const Ratio& ratio) { return ratio.value < 1; }));
}

StudyCell number(double value) { return render::number_cell(value, 2); }
StudyCell count(std::size_t value) { return render::number_cell(static_cast<double>(value), 0); }

std::vector<StudyCell> row_of(const Group& group) {
  const auto [worst, best] = std::ranges::minmax_element(group.ratios, {}, &Ratio::value);
  return {{.text = group.gpu->name},  {.text = group.pass},          {.text = group.mask}, {.text = group.precision},
          count(group.ratios.size()), number(mean_of(group.ratios)), number(best->value),  count(lost(group.ratios)),
          number(worst->value),       {.text = worst->shape}};
}

/// Returns the sentence on `flash` against the fastest `sdpa_*` on one GPU model, in one precision.
std::string answer_of(const HeadlineGpu& gpu, std::span<const Group> groups, const std::string& precision) {
  std::vector<Ratio> all;
  for (const Group& group : groups) {
    if (group.precision == precision) all.insert(all.end(), group.ratios.begin(), group.ratios.end());
  }
  if (all.empty()) {
    return fmt::format("Attention in {} on {}: no shape has times of both flash and sdpa_*.", precision, gpu.name);
  }
  const std::size_t slower = lost(all);
  const std::string losses = slower == 0 ? "never slower"
                                         : fmt::format("slower in {}, at worst {:.2f}", slower,
                                                       std::ranges::min(all, {}, &Ratio::value).value);
  return fmt::format(
      "Attention in {} on {}: flash is {:.2f} times as fast as the fastest sdpa_* (geometric mean of {} shapes); {}.",
      precision, gpu.name, mean_of(all), all.size(), losses);
}

}  // namespace

std::optional<HeadlineAttention> headline_attention(std::span<const HeadlineGpu> gpus, const std::string& precision) {
  HeadlineAttention attention;
  std::vector<std::string> answers;
  for (const HeadlineGpu& gpu : gpus) {
    const std::vector<Group> groups = groups_of(gpu);
    for (const Group& group : groups) attention.section.rows.push_back(row_of(group));
    answers.push_back(answer_of(gpu, groups, precision));
  }
  if (attention.section.rows.empty()) return std::nullopt;
  for (const HeadlineGpu& gpu : gpus.subspan(1)) {
    std::ranges::move(comparison_of(gpu, gpus.front(), precision), std::back_inserter(attention.answers));
  }
  std::ranges::move(answers, std::back_inserter(attention.answers));
  attention.section.caption =
      "Attention: time of the fastest sdpa_* divided by the time of flash. Above 1, flash is faster.";
  attention.section.columns = {{"GPU"},
                               {"pass"},
                               {"mask"},
                               {"precision"},
                               {"shapes", Align::kRight},
                               {"mean", Align::kRight},
                               {"best", Align::kRight},
                               {"slower in", Align::kRight},
                               {"worst", Align::kRight},
                               {"worst shape"}};
  return attention;
}

}  // namespace tbench::studies

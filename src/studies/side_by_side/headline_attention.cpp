#include "studies/side_by_side/headline_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "studies/engine/case_parameters.hpp"
#include "tbench/core/step_counts.hpp"
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

std::string answer_of(const HeadlineGpu& gpu, std::span<const Group> groups) {
  std::vector<Ratio> all;
  for (const Group& group : groups) {
    if (group.gpu == &gpu) all.insert(all.end(), group.ratios.begin(), group.ratios.end());
  }
  const std::size_t slower = lost(all);
  const std::string losses = slower == 0 ? "never slower"
                                         : fmt::format("slower in {}, at worst {:.2f}", slower,
                                                       std::ranges::min(all, {}, &Ratio::value).value);
  return fmt::format(
      "Attention on {}: flash is {:.2f} times as fast as the fastest sdpa_* (geometric mean of {} shapes); {}.",
      gpu.name, mean_of(all), all.size(), losses);
}

}  // namespace

std::optional<HeadlineAttention> headline_attention(std::span<const HeadlineGpu> gpus) {
  HeadlineAttention attention;
  for (const HeadlineGpu& gpu : gpus) {
    const std::vector<Group> groups = groups_of(gpu);
    if (groups.empty()) continue;
    for (const Group& group : groups) attention.section.rows.push_back(row_of(group));
    attention.answers.push_back(answer_of(gpu, groups));
  }
  if (attention.section.rows.empty()) return std::nullopt;
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

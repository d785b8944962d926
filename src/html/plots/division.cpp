#include "html/plots/division.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

constexpr std::size_t kMaxSeries = 10;   // that one panel can tell apart
constexpr std::size_t kMaxVariants = 5;  // of one implementation: they are shades of its colour
constexpr std::string_view kExec = "exec";
const Keys& implementation_keys() {
  static const Keys keys{"impl", "method"};
  return keys;
}

std::size_t count_names(const Cases& cases, const Keys& by) {
  std::set<std::string> names;
  for (const PlotCase* one : cases) names.insert(name_by(*one, by));
  return names.size();
}

bool is_crowded(const Cases& cases, const Keys& panel, const Keys& rest) {
  const Keys series = without(rest, panel);
  const Keys variants = without(series, implementation_keys());
  return std::ranges::any_of(by_keys(cases, panel), [&](const Cases& group) {
    return count_names(group, series) > kMaxSeries || count_names(group, variants) > kMaxVariants;
  });
}

}  // namespace

Division divided(const Cases& cases, const Keys& x, const Keys& first) {
  const Keys rest = without(varying(cases), x);
  Keys panel;
  for (const std::string& key : first) {
    if (contains(rest, key)) panel.push_back(key);
  }
  Keys order{"precision"};
  order.insert(order.end(), rest.begin(), rest.end());
  for (const std::string& key : order) {
    if (contains(rest, key) && !contains(panel, key) && is_crowded(cases, panel, rest)) panel.push_back(key);
  }
  return {.panel = panel, .series = without(rest, panel)};
}

double shade_of(std::size_t index, std::size_t count) {
  const auto number = static_cast<double>(count);
  return static_cast<double>(index) / std::max(1.0, number - 1) * std::min(0.75, 0.35 + 0.1 * number);
}

std::vector<CaseSeries> series_of(const PlotData& data, const Cases& cases, const Keys& by) {
  const Keys others = without(without(by, implementation_keys()), {std::string{kExec}});
  Keys variants;
  for (const Cases& group : by_keys(cases, others)) variants.push_back(name_by(*group.front(), others));
  std::vector<CaseSeries> all;
  for (const Cases& named :
       grouped(cases, [&](const PlotCase& of) { return name_by(of, by) + "/" + implementation(of); })) {
    for (const Cases& group : grouped(named, [](const PlotCase& of) { return std::to_string(of.file); })) {
      const PlotCase& one = *group.front();
      const auto variant =
          static_cast<std::size_t>(std::ranges::find(variants, name_by(one, others)) - variants.begin());
      Keys parts{name_by(one, by)};
      if (parts.front().empty()) parts.front() = implementation(one);
      if (data.files() > 1) parts.push_back(data.label(one.file));
      if (parts.front().empty()) parts.erase(parts.begin());
      all.push_back({.name = parts.empty() ? "all" : join(parts, " · "),
                     .colour = data.colour(one, shade_of(variant, variants.size())),
                     .shape = data.files() > 1 ? one.file : variant,
                     .is_graph = one.value(kExec) == "graph",
                     .file = one.file,
                     .cases = group});
    }
  }
  return all;
}

bool has_names(const PlotData& data, const std::vector<CaseSeries>& series, const Keys& by) {
  return data.files() > 1 || series.size() > 1 || !name_by(*series.front().cases.front(), by).empty() ||
         !implementation(*series.front().cases.front()).empty();
}

std::string row_name(const PlotData& data, const PlotCase& of, const Keys& by) {
  std::string name = name_by(of, by);
  if (name.empty()) name = implementation(of);
  if (name.empty()) name = of.record->id.family();
  return data.files() > 1 ? name + " · " + data.label(of.file) : name;
}

}  // namespace tbench::html

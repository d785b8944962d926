#include "html/plots/plot_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "html/charts/palette.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {

std::optional<double> PlotCase::counter(const std::string& name, double factor) const {
  const auto found = counters.find(name);
  return found == counters.end() ? std::nullopt : std::optional{factor * found->second};
}

std::string PlotCase::value(std::string_view key) const {
  const std::string* const found = record->id.find(key);
  return found == nullptr ? "" : *found;
}

PlotData::PlotData(std::span<const results::NamedResults> results, std::span<const FileComparison> comparisons)
    : comparisons_{comparisons} {
  std::set<std::string> implementations;
  for (std::size_t file = 0; file < results.size(); ++file) {
    labels_.push_back(results[file].label);
    for (const Record& record : results[file].file.records) {
      cases_.push_back({.record = &record, .index = cases_.size(), .file = file, .counters = counters_of(record)});
      if (const std::string* const name = implementation_of(record.id)) implementations.insert(*name);
    }
  }
  for (const PlotCase& one : cases_) all_.push_back(&one);
  slots_ = colour_slots(implementations);
}

std::string PlotData::colour(const PlotCase& of, double shade) const {
  const auto slot = slots_.find(implementation(of));
  const std::string base = slot == slots_.end() ? "var(--accent)" : slot_colour(slot->second);
  return shade == 0 ? base : fmt::format("color-mix(in srgb, {}, var(--text) {:.0f}%)", base, 100 * shade);
}

Cases only(const Cases& cases, const std::function<bool(const PlotCase&)>& passes) {
  Cases passing;
  std::ranges::copy_if(cases, std::back_inserter(passing), [&](const PlotCase* one) { return passes(*one); });
  return passing;
}

ValueOf counter(std::string name, double factor) {
  return [name = std::move(name), factor](const PlotCase& of) { return of.counter(name, factor); };
}

std::vector<Cases> grouped(const Cases& cases, const NameOf& name_of) {
  std::vector<Cases> groups;
  std::map<std::string, std::size_t> places;
  for (const PlotCase* one : cases) {
    const auto [place, is_new] = places.emplace(name_of(*one), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(one);
  }
  return groups;
}

std::vector<Cases> by_family(const Cases& cases) {
  return grouped(cases, [](const PlotCase& of) { return of.record->id.family(); });
}

std::vector<Cases> by_keys(const Cases& cases, const Keys& keys) {
  return grouped(cases, [&](const PlotCase& of) { return name_by(of, keys); });
}

Keys varying(const Cases& cases) {
  Keys keys;
  std::map<std::string, std::pair<std::set<std::string>, std::size_t>> seen;  // values, and cases that have the key
  for (const PlotCase* one : cases) {
    for (const auto& [key, value] : one->record->id.parameters()) {
      auto& [values, count] = seen[key];
      if (count++ == 0) keys.push_back(key);
      values.insert(value);
    }
  }
  std::erase_if(keys, [&](const std::string& key) {
    const auto& [values, count] = seen.at(key);
    return values.size() == 1 && count == cases.size();
  });
  return keys;
}

bool contains(const Keys& keys, std::string_view key) { return std::ranges::find(keys, key) != keys.end(); }

Keys without(const Keys& keys, const Keys& others) {
  Keys left;
  std::ranges::copy_if(keys, std::back_inserter(left), [&](const std::string& key) { return !contains(others, key); });
  return left;
}

std::string name_by(const PlotCase& of, const Keys& keys) {
  Keys parts;
  for (const auto& [key, value] : of.record->id.parameters()) {
    if (!contains(keys, key)) continue;
    const bool is_number = !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    parts.push_back(is_number ? key + " " + value : value);
  }
  return join(parts, " ");
}

std::string implementation(const PlotCase& of) {
  const std::string* const name = implementation_of(of.record->id);
  return name == nullptr ? "" : *name;
}

std::string titled(const Cases& cases, const Keys& panel) {
  const Keys shared{"ctx", "pass", "precision"};
  const Keys differing = varying(cases);
  Keys said;
  for (const auto& [key, value] : cases.front()->record->id.parameters()) {
    const bool is_shared = contains(shared, key) && !contains(differing, key);
    if (differing.empty() || contains(panel, key) || is_shared) said.push_back(key);
  }
  const std::string name = name_by(*cases.front(), said);
  return cases.front()->record->id.family() + (name.empty() ? "" : ", " + name);
}

Cases middles(const Cases& cases, const ValueOf& value_of) {
  const auto processes =
      grouped(cases, [](const PlotCase& of) { return fmt::format("{} {}", of.file, of.record->id.name()); });
  Cases middle;
  for (Cases group : processes) {
    std::ranges::stable_sort(group, {}, [&](const PlotCase* one) {
      return value_of(*one).value_or(std::numeric_limits<double>::infinity());
    });
    middle.push_back(group[(group.size() - 1) / 2]);
  }
  return middle;
}

PointFacts facts_of(const PlotCase& of, std::string unit) {
  const Record& record = *of.record;
  PointFacts facts{.record = of.index, .unit = std::move(unit), .status = std::string{to_string(record.status)}};
  if (!record.timing) return facts;
  facts.count = record.timing->samples_s.size();
  if (record.timing->relative_half_width) facts.interval = 100 * *record.timing->relative_half_width;
  return facts;
}

}  // namespace tbench::html

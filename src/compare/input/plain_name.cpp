#include "compare/input/plain_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tbench/results/measured_case.hpp"

namespace tbench::compare {
namespace {

/// How much of a name distinguishes benchmarks.
enum class Detail { kBenchmark, kClock, kWhole };

/// Removes `/LABEL` from the end of `name`. If the label ends in a colon, also removes the number after it.
/// @return  the removed text; empty if the name does not end so
std::string taken(std::string& name, std::string_view label) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos || slash == 0) return "";
  const std::string_view part = std::string_view{name}.substr(slash + 1);
  const bool has_value = label.back() == ':';
  const bool is_it = has_value ? part.size() > label.size() && part.starts_with(label) &&
                                     std::isdigit(static_cast<unsigned char>(part[label.size()])) != 0
                               : part == label;
  if (!is_it) return "";
  std::string text = name.substr(slash);
  name.resize(slash);
  return text;
}

/// Removes several labels from the end of `name`, the last label in the name first.
template <std::size_t kCount>
std::string taken(std::string& name, const std::array<std::string_view, kCount>& labels) {
  std::string text;
  for (const std::string_view label : labels) text.insert(0, taken(name, label));
  return text;
}

constexpr std::array<std::string_view, 3> kClocks{"real_time", "manual_time", "process_time"};
constexpr std::array<std::string_view, 4> kCounts{"repeats:", "iterations:", "min_warmup_time:", "min_time:"};

/// Removes a number such as `#2` from the end of a name, and returns it.
std::string nth_taken(std::string& name) {
  const std::size_t hash = name.rfind('#');
  if (hash == std::string::npos || hash + 1 == name.size()) return "";
  const auto is_digit = [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; };
  if (!std::all_of(name.begin() + static_cast<std::ptrdiff_t>(hash) + 1, name.end(), is_digit)) return "";
  std::string text = name.substr(hash);
  name.resize(hash);
  return text;
}

std::string text_of(const PlainName& name, Detail detail) {
  return name.benchmark + (detail == Detail::kWhole ? name.counts : "") +
         (detail == Detail::kBenchmark ? "" : name.clock) + name.threads + name.nth;
}

/// A benchmark of a plain side.
struct Named {
  results::MeasuredCase* measured;
  PlainName name;
  std::string group;  // key without the suffixes of the library; benchmarks in one group may be the same
};

/// Gives the case a name and a key with this detail. A whole name is its own key, since the order of arguments counts.
void identify(const Named& named, Detail detail) {
  const std::string text = text_of(named.name, detail);
  named.measured->id = results::case_of_name(text);
  named.measured->key = detail == Detail::kWhole ? text : results::match_key(named.measured->id);
}

std::vector<Named> named_cases(ComparisonSide& side) {
  std::vector<Named> cases;
  cases.reserve(side.cases.size());
  for (results::MeasuredCase& c : side.cases) {
    Named& named = cases.emplace_back(Named{.measured = &c, .name = plain_name(c.id.name()), .group = {}});
    identify(named, Detail::kBenchmark);
    named.group = c.key;
  }
  return cases;
}

/// Returns the groups in which one file has two benchmarks with the same key.
std::unordered_set<std::string> collided(const std::vector<std::vector<Named>>& files) {
  std::unordered_set<std::string> groups;
  for (const std::vector<Named>& file : files) {
    std::unordered_set<std::string_view> keys;
    for (const Named& named : file) {
      if (!keys.insert(named.measured->key).second) groups.insert(named.group);
    }
  }
  return groups;
}

}  // namespace

PlainName plain_name(const std::string& name) {
  PlainName parts;
  parts.benchmark = name;
  parts.nth = nth_taken(parts.benchmark);
  parts.threads = taken(parts.benchmark, "threads:");
  parts.clock = taken(parts.benchmark, kClocks);
  parts.counts = taken(parts.benchmark, kCounts);
  return parts;
}

std::string nth_name(const std::string& name, std::size_t nth) {
  return nth == 1 ? name : fmt::format("{}#{}", name, nth);
}

void match_plain_names(std::span<ComparisonSide> sides) {
  std::vector<std::vector<Named>> files;
  for (ComparisonSide& side : sides) {
    if (!side.contexts.empty()) files.push_back(named_cases(side));
  }
  for (const Detail finer : {Detail::kClock, Detail::kWhole}) {
    const std::unordered_set<std::string> groups = collided(files);
    if (groups.empty()) return;
    for (const std::vector<Named>& file : files) {
      for (const Named& named : file) {
        if (groups.contains(named.group)) identify(named, finer);
      }
    }
  }
}

}  // namespace tbench::compare

#include "bench/plan/filter_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

constexpr std::ptrdiff_t kFamily = -1;  // position of the family, before all keys

/// A part of a filter, and what it is in a case name.
struct Placed {
  std::string text;
  std::string label;  // the key, or the family
  std::ptrdiff_t position{};
  FilterPart part;
};

/// Returns the part with its position in a name, or nullopt if several positions are possible.
std::optional<Placed> placed(const FilterPart& part, const FamilyWords& family) {
  const std::string name = part.text.substr(0, part.text.find(':'));
  const auto key = std::ranges::find(family.keys, name, &KeyWords::key);
  if (key != family.keys.end() && name.size() < part.text.size()) {
    return Placed{.text = part.text, .label = name, .position = key - family.keys.begin(), .part = part};
  }
  if (!part.fits(family.name) || family.position_of(part)) return std::nullopt;
  return Placed{.text = part.text, .label = family.name, .position = kFamily, .part = part};
}

/// Returns the keys that lie between two neighbouring parts in every case name; empty if nothing has to.
std::vector<std::string> keys_between(const Placed& left, const Placed& right, const FamilyWords& family) {
  std::vector<std::string> keys;
  const bool are_neighbours = left.part.right == FilterEdge::kSlash && left.part.end + 1 == right.part.begin;
  for (std::ptrdiff_t at = left.position + 1; are_neighbours && at < right.position; ++at) {
    const KeyWords& key = family.keys[static_cast<std::size_t>(at)];
    if (key.is_in_every_case) keys.push_back(key.key);
  }
  return keys;
}

/// Returns the filter that has the parts in the order of case names.
std::string in_order(std::vector<Placed> parts, const FamilyWords& family) {
  std::ranges::stable_sort(parts, {}, &Placed::position);
  std::string filter = parts.front().part.left == FilterEdge::kNameEnd ? "^" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool follows = i > 0 && parts[i].position == parts[i - 1].position + 1;
    if (i > 0) filter += follows ? "/" : "/.*";
    filter += parts[i].text;
  }
  const bool is_last_key = parts.back().position + 1 == static_cast<std::ptrdiff_t>(family.keys.size());
  return parts.back().part.right == FilterEdge::kSlash && !is_last_key ? filter + "/" : filter;
}

std::string suggestion(const FilterParts& found, const std::vector<Placed>& parts, const FamilyWords& family,
                       const std::function<bool(const std::string& filter)>& matches) {
  if (found.has_operators || found.parts.size() > parts.size()) return {};
  const std::string filter = in_order(parts, family);
  return matches(filter) ? did_you_mean_text(filter) : std::string{};
}

std::string order_of(const FamilyWords& family) {
  std::vector<std::string> keys{family.name};
  for (const KeyWords& key : family.keys) keys.push_back(key.key);
  return join(keys, ", ");
}

}  // namespace

std::optional<std::string> explain_order(const FilterParts& found, const FamilyWords& family,
                                         const std::function<bool(const std::string& filter)>& matches) {
  std::vector<Placed> parts;
  for (const FilterPart& part : found.parts) {
    if (auto known = placed(part, family)) parts.push_back(std::move(*known));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Placed& left = parts[i - 1];
    const Placed& right = parts[i];
    if (left.position == right.position) {
      return fmt::format("a name has one '{}', not '{}' and '{}'", left.label, left.text, right.text);
    }
    if (left.position < right.position) continue;
    const std::string hint = suggestion(found, parts, family, matches);
    return fmt::format("'{}' comes before '{}'{}", right.label, left.label,
                       hint.empty() ? fmt::format(" (order: {})", order_of(family)) : hint);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::vector<std::string> between = keys_between(parts[i - 1], parts[i], family);
    if (between.empty()) continue;
    return fmt::format("case names have {} between '{}' and '{}'{}", join(between, ", "), parts[i - 1].label,
                       parts[i].label, suggestion(found, parts, family, matches));
  }
  return std::nullopt;
}

}  // namespace tbench::bench

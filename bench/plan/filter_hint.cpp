#include "bench/plan/filter_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/plan/filter_families.hpp"
#include "bench/plan/filter_order.hpp"
#include "bench/plan/filter_parts.hpp"
#include "bench/plan/filter_repairs.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/quantities.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

using Names = std::vector<std::string>;

std::string listed(const Names& names) {
  constexpr std::size_t kMax = 16;
  if (names.size() <= kMax) return join(names, ", ");
  return join(std::span{names}.first(kMax), ", ") + ", ...";
}

bool is_whole_word(const FilterPart& part) {
  return part.right == FilterEdge::kSlash || part.left == FilterEdge::kNameEnd;
}

/// Returns `key:value` for a value that was given without its key.
std::optional<std::string> value_with_key(const std::string& value, const FilterFamilies& families,
                                          decltype(&recognise_value) find) {
  for (const std::string& name : families.keys()) {
    const KeyWords key = families.key(name);
    if (key.is_number) continue;
    if (const auto found = find(value, key.values)) return key.part(*found);
  }
  return std::nullopt;
}

/// Explains text without a `:` that no part of a name is.
std::optional<std::string> explain_word(const FilterPart& part, const FilterFamilies& families, bool may_be_family) {
  const std::string& text = part.text;
  const auto no_name_has = [&](const std::string& meant) {
    const bool lacks_its_key = meant.ends_with(":" + text);
    const bool lacks_its_value = meant == text + ":";
    return lacks_its_key || lacks_its_value ? fmt::format("'{}' is a {}, and a ':' joins key and value{}", text,
                                                          lacks_its_key ? "value" : "key", did_you_mean_text(meant))
                                            : fmt::format("no case name has '{}'{}", text, did_you_mean_text(meant));
  };
  for (const auto find : {&recognise_value, &suggest_value}) {
    const auto family = may_be_family ? find(text, families.names()) : std::nullopt;
    if (family) {
      return fmt::format("no family '{}'{}", text, did_you_mean_text(*family));
    }
    if (const auto value = value_with_key(text, families, find)) return no_name_has(*value);
    if (const auto key = find(text, families.keys())) return no_name_has(*key + ":");
  }
  if (!may_be_family || !is_whole_word(part)) return std::nullopt;
  return fmt::format("no family '{}' (families: {})", text, listed(families.names()));
}

std::string explain_key(const std::string& key, const FilterFamilies& families) {
  if (key == "l2") return "only bursts have the key 'l2', and only with --tb_l2=warm";
  return with_suggestion(fmt::format("{} '{}'", families.lack("key"), key), key, families.keys(), "keys");
}

/// Returns the flag that adds cases with a value; empty if none does.
std::string adding_flag(const KeyWords& key, const std::string& value, const FilterFamilies& families) {
  if (!key.takes_more) return {};
  return fmt::format("; --tb_axis={}.{}={} adds some", families.all().front().name, key.key, value);
}

std::string explain_number(const KeyWords& key, const std::string& value, const FilterFamilies& families) {
  const std::string values = fmt::format("(values: {})", listed(key.values));
  if (const auto number = parse_integer(value); number && *number > 0) {
    return fmt::format("no case has '{}' {}{}", key.part(value), values, adding_flag(key, value, families));
  }
  const auto meant = count_in(value, 1024);
  const bool is_likely = meant && *meant > 0;
  return fmt::format("'{}' is not a positive whole number{}", key.part(value),
                     is_likely ? did_you_mean_text(key.part(fmt::format("{}", *meant))) : " " + values);
}

std::string explain_value(const std::string& name, const std::string& value, const FilterFamilies& families) {
  const KeyWords key = families.key(name);
  if (key.is_number) return explain_number(key, value, families);
  const auto meant = suggest_value(value, key.values);
  if (meant) return fmt::format("unknown '{}'{}", key.part(value), did_you_mean_text(key.part(*meant)));
  return fmt::format("{} '{}' (values: {})", families.lack("value"), key.part(value), listed(key.values));
}

/// Explains `key:value` that no name has.
std::string explain_pair(const FilterPart& part, const FilterFamilies& families) {
  const std::size_t colon = part.text.find(':');
  const std::string key = part.text.substr(0, colon);
  const std::string value = part.text.substr(colon + 1);
  const Names keys = families.keys();
  const FilterPart end_of_key{.text = key, .left = part.left, .right = FilterEdge::kSlash};
  auto found = std::ranges::find(keys, key);
  if (found == keys.end()) found = std::ranges::find_if(keys, [&](const auto& name) { return end_of_key.fits(name); });
  if (found == keys.end()) return explain_key(key, families);
  FilterPart only_key = part;
  only_key.text = *found + ":";
  only_key.right = FilterEdge::kOpen;
  return explain_value(*found, value, families.having(only_key));
}

/// Explains a value that the program knows but no case has.
std::optional<std::string> explain_absent_value(const FilterParts& found, const FamilyWords& family) {
  for (const FilterPart& part : found.parts) {
    for (const KeyWords& key : family.keys) {
      const auto fits = [&](const std::string& value) { return part.fits(key.part(value)); };
      const auto known =
          std::ranges::find_if(key.values, [&](const auto& value) { return part.text == key.part(value); });
      if (known == key.values.end() || key.in_cases.empty() || std::ranges::any_of(key.in_cases, fits)) continue;
      return key.is_in_every_case
                 ? fmt::format("no case has '{}'{}", part.text, adding_flag(key, *known, FilterFamilies{{family}}))
                 : fmt::format("no name has '{}', since names omit the default of '{}'", part.text, key.key);
    }
  }
  return std::nullopt;
}

using Matches = std::function<bool(const std::string& filter)>;

/// Explains a part that none of `families` has.
/// @param all  all families, from which the parts before it have left `families`
std::optional<std::string> explain_part(const FilterPart& part, const FilterFamilies& families,
                                        const FilterFamilies& all, bool may_be_family) {
  const std::size_t colon = part.text.find(':');
  if (colon == std::string::npos) return explain_word(part, families, may_be_family);
  const bool is_elsewhere = families.all().size() > 1 && !all.having(part).are_none();
  if (!is_elsewhere) return explain_pair(part, families);
  return fmt::format("no family has '{}' together with the parts before it{}", part.text,
                     did_you_mean_value(part.text.substr(0, colon), families.keys()));
}

/// Explains a filter whose parts occur in the families, but in no family in the filter's order.
std::optional<std::string> explain_order_in_all(const FilterParts& found, const FilterFamilies& families,
                                                const Matches& matches) {
  std::optional<std::string> first;
  for (const FamilyWords& family : families.all()) {
    const std::optional<std::string> why = explain_order(found, family, matches);
    if (!why) return std::nullopt;
    if (!first) first = why;
  }
  return first;
}

std::optional<std::string> explain_parts(const FilterParts& found, const FilterFamilies& all, const Matches& matches) {
  if (found.parts.empty()) return std::nullopt;
  FilterFamilies families = all.named(found.parts.front());
  for (const FilterPart& part : found.parts) {
    const FilterFamilies having = families.having(part);
    if (having.are_none()) return explain_part(part, families, all, &part == &found.parts.front());
    families = having;
  }
  const auto order = explain_order_in_all(found, families, matches);
  if (order || families.all().size() > 1) return order;
  return explain_absent_value(found, families.all().front());
}

}  // namespace

std::optional<std::string> explain_unmatched_filter(const std::string& filter, std::span<const FamilySpec> families,
                                                    std::span<const CaseId> cases, std::span<const CaseId> others) {
  constexpr std::size_t kMaxCharacters = 1024;  // of what a user types; each notation costs a search in all names
  if (filter.starts_with('-') || filter.size() > kMaxCharacters) return std::nullopt;
  const Matches matches = [&](const std::string& expression) {
    try {
      const CaseFilter selects{expression, "--benchmark_filter"};
      return std::ranges::any_of(cases, [&](const CaseId& id) { return selects(id.name()); });
    } catch (const UsageError&) {
      return false;
    }
  };
  if (matches(filter)) return std::nullopt;  // a run with a launcher has other families
  if (auto notation = explain_notation(filter, matches)) return notation;
  std::vector<CaseId> all{cases.begin(), cases.end()};
  all.insert(all.end(), others.begin(), others.end());
  const FilterFamilies known{words_of(families, all)};
  for (const std::string& alternative : alternatives_of(filter)) {
    if (auto why = explain_parts(parts_of(alternative), known, matches)) return why;
  }
  return std::nullopt;
}

}  // namespace tbench::bench

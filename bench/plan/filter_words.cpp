#include "bench/plan/filter_words.hpp"

#include <algorithm>

namespace tbench::bench {
namespace {

/// Whether --tb_axis replaces the key's values in a table of the family.
bool is_of_course_grid(const FamilySpec& family, const std::string& key) {
  return std::ranges::any_of(family.tables, [&](const CaseTable& table) {
    return table.is_course_grid && std::ranges::find(table.axes, key, &Axis::key) != table.axes.end();
  });
}

KeyWords& key_of(FamilyWords& family, const std::string& name) {
  const auto found = std::ranges::find(family.keys, name, &KeyWords::key);
  if (found != family.keys.end()) return *found;
  return family.keys.emplace_back(KeyWords{.key = name, .values = {}});  // l2, which no family declares
}

void add_case(FamilyWords& family, const CaseId& id) {
  for (const auto& [name, value] : id.parameters()) {
    KeyWords& key = key_of(family, name);
    if (key.in_cases.insert(value).second && std::ranges::find(key.values, value) == key.values.end()) {
      key.values.push_back(value);
    }
  }
}

FamilyWords family_words(const FamilySpec& spec, std::span<const CaseId> cases) {
  FamilyWords family{.name = spec.name, .keys = {}};
  for (const KeySpec& key : spec.keys) {
    family.keys.push_back({.key = key.key,
                           .is_number = key.known.empty(),
                           .values = key.known,
                           .takes_more = is_of_course_grid(spec, key.key)});
  }
  for (const CaseId& id : cases) {
    if (id.family() == spec.name) add_case(family, id);
  }
  for (KeyWords& key : family.keys) {
    key.is_in_every_case = std::ranges::all_of(
        cases, [&](const CaseId& id) { return id.family() != spec.name || id.find(key.key) != nullptr; });
  }
  return family;
}

/// Returns the digits after the `:` of a part; empty if there is something else.
std::string number_of(const FilterPart& part) {
  const std::string value = part.text.substr(std::min(part.text.find(':') + 1, part.text.size()));
  const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? value : std::string{};
}

bool fits_key(const FilterPart& part, const KeyWords& key) {
  // Without cases, as without ranks, any number is as good as another.
  if (key.is_number && key.in_cases.empty()) return part.fits(key.part(number_of(part)));
  return std::ranges::any_of(key.values, [&](const std::string& value) { return part.fits(key.part(value)); });
}

}  // namespace

std::optional<std::size_t> FamilyWords::position_of(const FilterPart& part) const {
  const auto found = std::ranges::find_if(keys, [&](const KeyWords& key) { return fits_key(part, key); });
  if (found == keys.end()) return std::nullopt;
  return static_cast<std::size_t>(found - keys.begin());
}

std::vector<FamilyWords> words_of(std::span<const FamilySpec> families, std::span<const CaseId> cases) {
  std::vector<FamilyWords> words;
  for (const FamilySpec& family : families) words.push_back(family_words(family, cases));
  return words;
}

}  // namespace tbench::bench

#include "bench/plan/filter_families.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbench::bench {
namespace {

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

template <class Leaves>
FilterFamilies without(std::vector<FamilyWords> families, Leaves leaves) {
  std::erase_if(families, leaves);
  return FilterFamilies{std::move(families)};
}

}  // namespace

std::vector<std::string> FilterFamilies::names() const {
  std::vector<std::string> names;
  for (const FamilyWords& family : families_) names.push_back(family.name);
  return names;
}

std::vector<std::string> FilterFamilies::keys() const {
  std::vector<std::string> keys;
  for (const FamilyWords& family : families_) {
    for (const KeyWords& key : family.keys) add_new(keys, key.key);
  }
  return keys;
}

KeyWords FilterFamilies::key(const std::string& name) const {
  KeyWords all{.key = name, .values = {}};
  for (const FamilyWords& family : families_) {
    const auto key = std::ranges::find(family.keys, name, &KeyWords::key);
    if (key == family.keys.end()) continue;
    all.is_number = key->is_number;
    all.takes_more = all.takes_more || key->takes_more;
    for (const std::string& value : key->values) add_new(all.values, value);
  }
  return all;
}

FilterFamilies FilterFamilies::having(const FilterPart& part) const {
  return without(families_, [&](const FamilyWords& family) { return !family.have(part); });
}

FilterFamilies FilterFamilies::named(const FilterPart& first) const {
  const bool may_be_value =
      std::ranges::any_of(families_, [&](const FamilyWords& family) { return family.position_of(first).has_value(); });
  FilterFamilies named = without(families_, [&](const FamilyWords& family) { return !first.fits(family.name); });
  return may_be_value || named.are_none() ? *this : named;
}

std::string FilterFamilies::lack(std::string_view what) const {
  return families_.size() == 1 ? fmt::format("{} has no {}", families_.front().name, what)
                               : fmt::format("no family has the {}", what);
}

}  // namespace tbench::bench

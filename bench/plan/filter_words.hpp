// The words of case names, in which the parts of a filter are looked up.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/filter_parts.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"

namespace tbench::bench {

/// A key of a family's case names.
struct KeyWords {
  std::string key;
  bool is_number{};                  // takes any positive whole number
  std::vector<std::string> values;   // the permitted values, and those of the cases
  std::set<std::string> in_cases{};  // values that a case has
  bool is_in_every_case{};
  bool takes_more{};  // whether --tb_axis adds values

  [[nodiscard]] std::string part(const std::string& value) const { return key + ":" + value; }
};

/// The words of a family's case names.
struct FamilyWords {
  std::string name;
  std::vector<KeyWords> keys;  // in the order of case names

  /// Returns the position of the first key with a value that the part fits, or nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> position_of(const FilterPart& part) const;
  /// Returns whether the part fits the name, or a key with one of its values.
  [[nodiscard]] bool have(const FilterPart& part) const { return part.fits(name) || position_of(part).has_value(); }
};

/// Returns the words of every family, from its keys and from its cases.
[[nodiscard]] std::vector<FamilyWords> words_of(std::span<const FamilySpec> families, std::span<const CaseId> cases);

}  // namespace tbench::bench

// The families that a filter may be about, and what they have in common.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/plan/filter_parts.hpp"
#include "bench/plan/filter_words.hpp"

namespace tbench::bench {

class FilterFamilies {
 public:
  explicit FilterFamilies(std::vector<FamilyWords> families) : families_{std::move(families)} {}

  [[nodiscard]] const std::vector<FamilyWords>& all() const { return families_; }
  [[nodiscard]] bool are_none() const { return families_.empty(); }
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the keys of all of them, each once.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Returns a key with its values in all families that have it.
  [[nodiscard]] KeyWords key(const std::string& name) const;

  /// Keeps the families that have the part.
  [[nodiscard]] FilterFamilies having(const FilterPart& part) const;
  /// Keeps the families that the first part of a filter names. Keeps all if it names none, or may be another word.
  [[nodiscard]] FilterFamilies named(const FilterPart& first) const;

  /// Returns the beginning of a sentence on what is missing: "Attention has no key", "no family has the key".
  [[nodiscard]] std::string lack(std::string_view what) const;

 private:
  std::vector<FamilyWords> families_;
};

}  // namespace tbench::bench

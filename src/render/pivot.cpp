#include "tbench/render/pivot.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tbench::render {
namespace {

using Texts = std::vector<std::string>;

bool holds(std::span<const std::string> texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

/// Returns whether all cases have the same value of the key.
bool is_common(std::span<const CaseId> cases, const std::string& key) {
  const std::string* const first = cases.front().find(key);
  return first != nullptr && std::ranges::all_of(cases, [&](const CaseId& id) {
           const std::string* const value = id.find(key);
           return value != nullptr && *value == *first;
         });
}

/// Numbers combinations of values in the order in which they first appear.
class Combinations {
 public:
  std::size_t index_of(Texts values) { return indexes_.emplace(std::move(values), indexes_.size()).first->second; }
  /// Returns all combinations in the order of their numbers.
  [[nodiscard]] std::vector<Texts> all() const {
    std::vector<Texts> all(indexes_.size());
    for (const auto& [values, index] : indexes_) all[index] = values;
    return all;
  }

 private:
  std::map<Texts, std::size_t> indexes_;
};

}  // namespace

std::vector<std::string> keys_of(std::span<const CaseId> cases) {
  Texts keys;
  for (const CaseId& id : cases) {
    for (const auto& [key, value] : id.parameters()) {
      if (!holds(keys, key)) keys.push_back(key);
    }
  }
  return keys;
}

std::vector<std::string> values_of(const CaseId& id, std::span<const std::string> keys) {
  Texts values;
  for (const std::string& key : keys) {
    const std::string* const value = id.find(key);
    values.push_back(value == nullptr ? "" : *value);
  }
  return values;
}

Pivot pivot_of(std::span<const CaseId> cases, std::span<const std::string> spread) {
  Pivot pivot;
  for (const std::string& key : keys_of(cases)) {
    if (!holds(spread, key)) (is_common(cases, key) ? pivot.common : pivot.row_keys).push_back(key);
  }
  Combinations columns;
  for (const CaseId& id : cases) columns.index_of(values_of(id, spread));
  pivot.columns = columns.all();
  Combinations rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Texts values = values_of(cases[i], pivot.row_keys);
    const std::size_t row = rows.index_of(values);
    if (row == pivot.rows.size()) {
      pivot.rows.push_back({std::move(values), std::vector<std::vector<std::size_t>>(pivot.columns.size())});
    }
    pivot.rows[row].columns[columns.index_of(values_of(cases[i], spread))].push_back(i);
  }
  return pivot;
}

}  // namespace tbench::render

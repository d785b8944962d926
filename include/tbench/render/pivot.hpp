// Arranges cases by their parameters as the rows and columns of a table.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"

namespace tbench::render {

/// Returns the keys of all cases.
[[nodiscard]] std::vector<std::string> keys_of(std::span<const CaseId> cases);

/// Returns the case's value of each key, an empty one for a key that the case does not have.
[[nodiscard]] std::vector<std::string> values_of(const CaseId& id, std::span<const std::string> keys);

struct Pivot {
  struct Row {
    std::vector<std::string> values;                // values of row_keys
    std::vector<std::vector<std::size_t>> columns;  // one cell per column: the indexes of its cases
  };
  std::vector<std::string> common;                // keys that have the same value in all cases
  std::vector<std::string> row_keys;              // all keys that are neither common nor spread
  std::vector<std::vector<std::string>> columns;  // combinations of the spread keys' values
  std::vector<Row> rows;                          // one row per combination of the values of row_keys
};

/// Arranges the cases. Keys, combinations and the cases of a cell are in the order of their first appearance.
/// @param spread  keys that form the columns; if empty, all cases of a row are in one column
[[nodiscard]] Pivot pivot_of(std::span<const CaseId> cases, std::span<const std::string> spread);

}  // namespace tbench::render

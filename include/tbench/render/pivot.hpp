// Cases arranged as the rows and columns of a table by their parameters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"

namespace tbench::render {

/// The keys of all cases.
[[nodiscard]] std::vector<std::string> keys_of(std::span<const CaseId> cases);

/// The case's value of each key; empty for a key that it does not have.
[[nodiscard]] std::vector<std::string> values_of(const CaseId& id, std::span<const std::string> keys);

struct Pivot {
  struct Row {
    std::vector<std::string> values;                // of row_keys
    std::vector<std::vector<std::size_t>> columns;  // a cell per column: the indexes of its cases
  };
  std::vector<std::string> common;                // keys of which all cases have one value, and none lacks it
  std::vector<std::string> row_keys;              // the others, but for those that are spread
  std::vector<std::vector<std::string>> columns;  // combinations of the spread keys' values
  std::vector<Row> rows;                          // a combination of the values of row_keys each
};

/// Keys, combinations, and the cases of a cell are in the order in which they appear.
/// @param spread  the keys that make the columns; empty: all cases of a row are in one column
[[nodiscard]] Pivot pivot_of(std::span<const CaseId> cases, std::span<const std::string> spread);

}  // namespace tbench::render

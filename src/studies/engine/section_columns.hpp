// The columns of a study's table: their headers, and which quantities and comparisons a combination of values has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/render/pivot.hpp"
#include "tbench/render/table.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// The columns for each combination of the values that are spread over columns, with a column per quantity.
class SectionColumns {
 public:
  using Combination = std::vector<std::string>;

  /// Both must outlive the object. `pivot` may be filled later.
  SectionColumns(const StudyTable& table, const render::Pivot& pivot) : table_{table}, pivot_{pivot} {}

  /// Returns whether the cases of a combination have the column's quantity.
  [[nodiscard]] bool has(const Combination& combination, const StudyColumn& column) const;
  /// Returns the index of the combination that is the base of this combination's speed-up. Returns nullopt for the base
  /// itself, and if there is no base.
  [[nodiscard]] std::optional<std::size_t> base_of(const Combination& combination) const;
  /// Returns the headers of all columns.
  [[nodiscard]] std::vector<render::Column> headers() const;

 private:
  [[nodiscard]] std::string header_of(const Combination& combination, const StudyColumn& column) const;

  const StudyTable& table_;
  const render::Pivot& pivot_;
};

}  // namespace tbench::studies

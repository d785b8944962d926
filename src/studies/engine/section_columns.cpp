#include "studies/engine/section_columns.hpp"

#include <algorithm>

#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

std::string joined(const std::string& one, const std::string& other) {
  return one + (one.empty() || other.empty() ? "" : " ") + other;
}

/// Returns the header without its unit, such as `forward` for `forward ms`, or an empty text for `ms`.
std::string without_unit(const std::string& header) {
  const std::size_t space = header.rfind(' ');
  return space == std::string::npos ? "" : header.substr(0, space);
}

const char* comparison_header(StudyComparison as) {
  switch (as) {
    case StudyComparison::kSpeedUp:
      return "speed-up";
    case StudyComparison::kChange:
      return "change %";
    case StudyComparison::kPoints:
      return "change pp";
  }
  return "";
}

}  // namespace

bool SectionColumns::has(const Texts& combination, const StudyColumn& column) const {
  if (!column.only_of) return true;
  for (std::size_t i = 0; i < combination.size(); ++i) {
    if (table_.spread[i] == column.only_of->first) return combination[i] == column.only_of->second;
  }
  return false;
}

/// Returns the combination's values, except the value that the column's own header shows.
std::string SectionColumns::header_of(const Texts& combination, const StudyColumn& column) const {
  Texts parts;
  for (std::size_t i = 0; i < combination.size(); ++i) {
    if (column.only_of && table_.spread[i] == column.only_of->first) continue;
    if (combination[i].empty()) continue;  // a key that the names of these cases leave out
    parts.push_back(table_.spread[i] + ":" + combination[i]);
  }
  return join(parts, " ");
}

std::optional<std::size_t> SectionColumns::base_of(const Texts& combination) const {
  Texts base = combination;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const auto value = std::ranges::find(table_.speed_up->base, table_.spread[i], &CaseId::Parameter::first);
    if (value != table_.speed_up->base.end()) base[i] = value->second;
  }
  const auto found = std::ranges::find(pivot_.columns, base);
  if (base == combination || found == pivot_.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pivot_.columns.begin());
}

std::vector<render::Column> SectionColumns::headers() const {
  std::vector<render::Column> columns;
  for (const std::string& key : pivot_.row_keys) columns.push_back({key, render::Align::kLeft});
  if (table_.quantities_down) {
    columns.push_back({"quantity", render::Align::kLeft});
    for (const Texts& combination : pivot_.columns)
      columns.push_back({header_of(combination, {}), render::Align::kRight});
    return columns;
  }
  for (const Texts& combination : pivot_.columns) {
    for (const StudyColumn& column : table_.columns) {
      if (!has(combination, column)) continue;
      const std::string values = header_of(combination, column);
      const bool needs_quantity = values.empty() || table_.columns.size() > 1;
      columns.push_back({joined(values, needs_quantity ? column.header : ""), render::Align::kRight});
    }
  }
  for (const Texts& combination : pivot_.columns) {
    if (!table_.speed_up || !base_of(combination)) continue;
    for (const StudyColumn& column : table_.columns) {
      if (!has(combination, column)) continue;
      const std::string what = joined(header_of(combination, column), without_unit(column.header));
      columns.push_back({joined(what, comparison_header(table_.speed_up->as)), render::Align::kRight});
    }
  }
  if (table_.has_boundary) {
    columns.push_back({"largest " + table_.spread.front(), render::Align::kRight});
    columns.push_back({"first OOM", render::Align::kRight});
  }
  if (!table_.fit) return columns;
  columns.push_back({"exponent of " + table_.fit->of, render::Align::kRight});
  columns.push_back({"r²", render::Align::kRight});
  return columns;
}

}  // namespace tbench::studies

#include "studies/engine/study_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/profile/short_kernel_name.hpp"
#include "tbench/render/pivot.hpp"

namespace tbench::studies {
namespace {

using Cells = std::vector<StudyCell>;

std::vector<render::Column> columns_of(const StudyRowTable& table, const std::vector<std::string>& keys) {
  using enum render::Align;
  std::vector<render::Column> columns;
  for (const std::string& key : keys) columns.push_back({key, kLeft});
  for (const std::string& name : table.names) columns.push_back({name, kLeft});
  for (const StudyQuantity& quantity : table.quantities) columns.push_back({quantity.header, kRight});
  if (!table.detail.empty()) columns.push_back({table.detail, kLeft});
  return columns;
}

Cells cells_of(const StudyRowTable& table, const StudyRow& row) {
  if (row.names.size() != table.names.size() || row.values.size() != table.quantities.size()) {
    throw std::logic_error{"a study's row has other cells than its table"};
  }
  Cells cells;
  for (const std::string& name : row.names) cells.push_back({.text = render::one_line(name)});
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const std::optional<double>& value = row.values[i];
    cells.push_back(value ? StudyCell{.text = table.quantities[i].format(*value), .value = value} : StudyCell{});
  }
  if (!table.detail.empty()) cells.push_back({.text = render::one_line(row.detail)});
  return cells;
}

/// Returns a row with empty names and one cell that describes the case as a whole.
Cells row_with(const StudyRowTable& table, StudyCell state) {
  Cells row(table.names.size());
  row.push_back(std::move(state));
  return row;
}

/// Returns the row of a case without rows, with its status or the footnote of the command that measures it.
Cells state_row(const StudyRowTable& table, const CaseId& id, CaseCells& cells) {
  const StudyColumn nothing{
      .header = {}, .value = {}, .format = {}, .text = [](const Record&) { return std::nullopt; }};
  return row_with(table, cells.cell(id, nothing, true));
}

/// Returns the caption with `{top}` replaced by the number of a case's rows that the table shows per first name.
std::string caption_with_top(const StudyRowTable& table) {
  constexpr std::string_view kPlace = "{top}";
  std::string caption = table.caption;
  if (const auto at = caption.find(kPlace); at != std::string::npos) {
    caption.replace(at, kPlace.size(), fmt::format("{}", table.top));
  }
  return caption;
}

/// Returns the rows of a case that the table shows.
std::vector<StudyRow> shown_rows(const StudyRowTable& table, const StudyCase& of) {
  std::vector<StudyRow> rows = table.rows_of(of);
  if (table.top == 0) return rows;
  std::map<std::string, std::size_t> counts;  // by first name
  std::erase_if(rows, [&](const StudyRow& row) { return ++counts[row.names.front()] > table.top; });
  return rows;
}

/// Replaces the names of kernels in the last column by short ones.
void shorten_kernels(StudySection& section) {
  std::vector<std::string> names;
  for (const Cells& row : section.rows) {
    if (!row.back().text.empty()) names.push_back(row.back().text);
  }
  const std::map<std::string, std::string> short_names = profile::short_kernel_names(names);
  for (Cells& row : section.rows) {
    StudyCell& cell = row.back();
    if (cell.text.empty()) continue;
    const std::string& name = short_names.at(cell.text);
    if (name != cell.text) cell.full = std::exchange(cell.text, name);
  }
}

}  // namespace

std::optional<StudySection> row_section(const StudyRowTable& table, CaseCells& cells) {
  const std::vector<CaseId> cases = cases_of(cells.all(), table.only, table.family);
  if (cases.empty()) return std::nullopt;
  const render::Pivot pivot = render::pivot_of(cases, {});
  StudySection section{.caption = caption_of(cases.front(), pivot.common, caption_with_top(table)),
                       .columns = columns_of(table, pivot.row_keys),
                       .rows = {},
                       .name_column = pivot.row_keys.size(),
                       .keys = keys_of(cases.front(), pivot),
                       .is_unmeasured = are_unmeasured(cases, cells)};
  bool has_rows = false;
  for (const CaseId& id : cases) {
    Cells head;
    const std::vector<std::string> values = render::values_of(id, pivot.row_keys);
    for (std::size_t i = 0; i < values.size(); ++i) head.push_back(key_cell(pivot.row_keys[i], values[i]));
    const auto add = [&](Cells behind, StudyStep step = StudyStep::kNone) {
      Cells row = head;
      std::ranges::move(behind, std::back_inserter(row));
      row.resize(section.columns.size());
      section.rows.push_back(std::move(row));
      section.steps.push_back(step);
    };
    const std::vector<const Record*> records = cells.timed(id);
    if (records.empty()) {
      add(state_row(table, id, cells));
      continue;
    }
    cells.note(records);
    const std::vector<StudyRow> rows = shown_rows(table, {.records = records, .all = cells.measurements()});
    for (const StudyRow& row : rows) add(cells_of(table, row), row.step);
    if (rows.empty()) add(row_with(table, {.text = "none"}));
    has_rows = has_rows || !rows.empty();
    const std::size_t all = cells.records(id).size();
    if (records.size() < all) {
      add(row_with(table, {.text = fmt::format("{} of {} failed", all - records.size(), all)}));
    }
  }
  if (table.needs_rows && !has_rows) return std::nullopt;
  if (!table.has_no_charts &&
      std::ranges::all_of(section.steps, [](StudyStep step) { return step == StudyStep::kNone; })) {
    section.steps.clear();
  }
  if (table.has_kernels) shorten_kernels(section);
  return section;
}

}  // namespace tbench::studies

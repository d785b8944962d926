#include "tbench/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::report {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kLeastWidth = 8;  // of a column that is shortened to fit a terminal

using Widths = std::vector<std::size_t>;

/// A cell that runs over the columns after it does not widen its own.
Widths natural_widths(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  Widths widths;
  for (const Column& column : columns) widths.push_back(display_width(column.header));
  for (const auto& row : rows) {
    const std::size_t count = row.size() < columns.size() ? row.size() - 1 : row.size();
    for (std::size_t i = 0; i < count; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

std::size_t line_width(const Widths& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap.size() * (widths.size() - 1));
}

/// Shortens the widest left-aligned column, one by one, until a line fits or nothing can be shortened.
void shrink(Widths& widths, const std::vector<Column>& columns, std::size_t max_width) {
  while (line_width(widths) > max_width) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns[i].align != Align::kLeft || widths[i] <= kLeastWidth) continue;
      if (!widest || widths[i] > widths[*widest]) widest = i;
    }
    if (!widest) return;
    --widths[*widest];
  }
}

std::string without_trailing_spaces(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string aligned(const std::vector<std::string>& row, const std::vector<Column>& columns, const Widths& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += kGap;
    const bool runs_over = i + 1 == row.size() && row.size() < columns.size();
    if (runs_over) {
      line += row[i];
    } else {
      const bool may_shorten = columns[i].align == Align::kLeft;
      line += pad(may_shorten ? fit(row[i], widths[i]) : row[i], widths[i], columns[i].align);
    }
  }
  return without_trailing_spaces(std::move(line));
}

std::vector<std::string> headers_of(const std::vector<Column>& columns) {
  std::vector<std::string> headers;
  for (const Column& column : columns) headers.push_back(column.header);
  return headers;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  if (cells.empty() || cells.size() > columns_.size()) {
    throw std::invalid_argument{
        fmt::format("a row of {} cells in a table of {} columns", cells.size(), columns_.size())};
  }
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::optional<std::size_t> max_width) const {
  Widths widths = natural_widths(columns_, rows_);
  if (max_width) shrink(widths, columns_, *max_width);
  std::vector<std::string> lines{aligned(headers_of(columns_), columns_, widths), std::string(line_width(widths), '-')};
  for (const auto& row : rows_) lines.push_back(aligned(row, columns_, widths));
  std::string text;
  for (const std::string& line : lines) text += (max_width ? fit(line, *max_width) : line) + "\n";
  return text;
}

std::string Table::markdown() const {
  std::string text{"|"};
  std::string rule{"|"};
  for (const Column& column : columns_) {
    text += fmt::format(" {} |", escape_markdown(column.header));
    rule += column.align == Align::kLeft ? " --- |" : " ---: |";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += fmt::format(" {} |", i < row.size() ? escape_markdown(row[i]) : "");
    }
    text += "\n";
  }
  return text;
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '>') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace tbench::report

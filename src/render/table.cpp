#include "tbench/render/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>

#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::render {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kMinWidth = 8;  // minimum width of a column that is shortened to fit a terminal

using Widths = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

/// Returns the width of each column's widest text. A cell that spans the columns after it does not widen its own.
Widths natural_widths(const std::vector<Column>& columns, const std::vector<Texts>& rows) {
  Widths widths;
  for (const Column& column : columns) widths.push_back(display_width(column.header));
  for (const Texts& row : rows) {
    const std::size_t count = row.size() < columns.size() ? row.size() - 1 : row.size();
    for (std::size_t i = 0; i < count; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

/// Returns a number without its separators of thousands, and any other text as it is.
std::string plain_number(const std::string& text) {
  if (text.find(',') == std::string::npos) return text;
  static const std::regex kSeparated{R"([+-]?\d{1,3}(,\d{3})+(\.\d+)?)"};
  if (!std::regex_match(text, kSeparated)) return text;
  std::string plain = text;
  std::erase(plain, ',');
  return plain;
}

std::size_t line_width(const Widths& widths) {
  if (widths.empty()) return 0;
  return std::accumulate(widths.begin(), widths.end(), kGap.size() * (widths.size() - 1));
}

/// Shortens the widest left-aligned column by one, again and again, until a line fits or nothing can be shortened.
void shrink(Widths& widths, const std::vector<Column>& columns, std::size_t max_width) {
  while (line_width(widths) > max_width) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns[i].align != Align::kLeft || widths[i] <= kMinWidth) continue;
      if (!widest || widths[i] > widths[*widest]) widest = i;
    }
    if (!widest) return;
    --widths[*widest];
  }
}

std::string aligned(const Texts& row, const std::vector<Column>& columns, const Widths& widths) {
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

Texts headers_of(const std::vector<Column>& columns) {
  Texts headers;
  for (const Column& column : columns) headers.push_back(column.header);
  return headers;
}

/// Returns the indexes of the columns that without_spare_columns() keeps.
std::vector<std::size_t> kept_columns(const std::vector<Column>& columns, const std::vector<Texts>& rows,
                                      std::optional<std::size_t> max_width) {
  const Widths widths = natural_widths(columns, rows);
  const auto is_filled = [&](std::size_t i) {
    return std::ranges::any_of(rows, [i](const Texts& row) { return i < row.size() && !row[i].empty(); });
  };
  const bool may_shorten_last = !columns.empty() && columns.back().align == Align::kLeft;
  std::vector<std::size_t> kept;
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_filled(i)) continue;
    kept.push_back(i);
    if (i + 1 < columns.size() || !may_shorten_last) total += widths[i] + kGap.size();
  }
  while (max_width && total > *max_width + kGap.size()) {
    const auto most = std::ranges::max_element(kept, {}, [&](std::size_t i) { return columns[i].spare; });
    if (most == kept.end() || columns[*most].spare == 0) break;
    total -= widths[*most] + kGap.size();
    kept.erase(most);
  }
  return kept;
}

std::string latex_row(const Texts& cells) { return join(cells, " & ") + " \\\\\n"; }

std::string html_cell(const Cell& cell, Align align, bool is_row_header) {
  const char* const attribute = align == Align::kRight ? " class=\"number\"" : is_row_header ? " scope=\"row\"" : "";
  const char* const tag = is_row_header ? "th" : "td";
  const std::string content =
      cell.footnote == 0
          ? escape_markup(cell.text)
          : fmt::format("— <a href=\"#how-{0}\" aria-label=\"not measured, see command {0}\">[{0}]</a>", cell.footnote);
  const std::string tooltip = cell.full.empty() ? "" : fmt::format(" title=\"{}\"", escape_markup(cell.full));
  return fmt::format("<{}{}{}>{}</{}>", tag, attribute, tooltip, content, tag);
}

}  // namespace

std::string footnote_mark(std::size_t footnote) { return fmt::format("[{}]", footnote); }

Cell number_cell(double value, int decimals) {
  return {.text = fmt::format("{:.{}f}", value, decimals), .value = value};
}

Table::Table(std::vector<Column> columns) : columns_{std::move(columns)} {
  for (Column& column : columns_) column.header = without_controls(column.header);
}

void Table::add_row(std::vector<std::string> cells) {
  std::vector<Cell> row;
  row.reserve(cells.size());
  for (std::string& cell : cells) row.push_back({.text = std::move(cell)});
  add_row_of(std::move(row));
}

void Table::add_row_of(std::vector<Cell> cells) {
  if (cells.empty() || cells.size() > columns_.size()) {
    throw std::invalid_argument{
        fmt::format("a row of {} cells in a table of {} columns", cells.size(), columns_.size())};
  }
  rows_.push_back(std::move(cells));
}

/// Returns the cells as a terminal and Markdown show them: on one line, with the mark of a footnote instead of its
/// text.
std::vector<Texts> Table::texts() const {
  std::vector<Texts> rows;
  rows.reserve(rows_.size());
  for (const auto& row : rows_) {
    Texts& texts = rows.emplace_back();
    for (const Cell& cell : row)
      texts.push_back(cell.footnote == 0 ? one_line(cell.text) : "— " + footnote_mark(cell.footnote));
  }
  return rows;
}

Table Table::without_spare_columns(std::optional<std::size_t> max_width) const {
  const std::vector<std::size_t> kept = kept_columns(columns_, texts(), max_width);
  std::vector<Column> columns;
  for (const std::size_t i : kept) columns.push_back(columns_[i]);
  Table table{std::move(columns)};
  for (const auto& row : rows_) {
    std::vector<Cell> cells;
    for (const std::size_t i : kept) {
      if (i < row.size()) cells.push_back(row[i]);
    }
    table.rows_.push_back(std::move(cells));
  }
  return table;
}

std::string Table::text(std::optional<std::size_t> max_width) const {
  const std::vector<Texts> rows = texts();
  Widths widths = natural_widths(columns_, rows);
  if (max_width) shrink(widths, columns_, *max_width);
  Texts lines{aligned(headers_of(columns_), columns_, widths), std::string(line_width(widths), '-')};
  for (const Texts& row : rows) lines.push_back(aligned(row, columns_, widths));
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
  for (const Texts& row : texts()) {
    text += "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += fmt::format(" {} |", i < row.size() ? escape_markdown(row[i]) : "");
    }
    text += "\n";
  }
  return text;
}

std::string Table::csv() const {
  std::string text = csv_row(headers_of(columns_));
  for (const auto& row : rows_) {
    Texts cells;
    for (const Cell& cell : row) cells.push_back(cell.footnote == 0 ? plain_number(without_controls(cell.text)) : "");
    text += csv_row(cells);
  }
  return text;
}

std::string Table::latex(std::string_view caption) const {
  std::string alignment;
  Texts header;
  for (const Column& column : columns_) {
    alignment += column.align == Align::kLeft ? 'l' : 'r';
    header.push_back(column.header == "r²" ? "$r^2$" : escape_latex(column.header));
  }
  std::string table =
      fmt::format("\\begin{{longtable}}{{{}}}\n\\caption{{{}}} \\\\\n\\hline\n", alignment, escape_latex(caption));
  table += latex_row(header) + "\\hline\n\\endhead\n";
  for (const auto& row : rows_) {
    Texts cells;
    for (const Cell& cell : row) {
      cells.push_back(cell.footnote == 0 ? escape_latex(cell.text) : "--- {" + footnote_mark(cell.footnote) + "}");
    }
    table += latex_row(cells);
  }
  return table + "\\hline\n\\end{longtable}\n";
}

std::string Table::html(std::string_view caption) const {
  std::string table = fmt::format(
      "<section><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n"
      "<table><caption>{0}</caption>\n<thead><tr>",
      escape_markup(caption));
  for (const Column& column : columns_) {
    table += fmt::format("<th scope=\"col\"{}>{}</th>", column.align == Align::kRight ? " class=\"number\"" : "",
                         escape_markup(column.header));
  }
  table += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    table += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Align align = columns_[i].align;
      table += html_cell(row[i], align, i == 0 && align == Align::kLeft);
    }
    table += "</tr>\n";
  }
  return table + "</tbody></table></div></section>\n";
}

}  // namespace tbench::render

// A table of text cells and the only place that knows how one is written: for a terminal, as Markdown, CSV, LaTeX or
// HTML. page.hpp has what stands around a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/render/terminal.hpp"

namespace tbench::render {

struct Column {
  std::string header;  // with the unit
  Align align{Align::kLeft};
  /// 0: always shown. Other columns go where a terminal is narrow, the highest number first.
  int spare{0};
};

struct Cell {
  std::string text;
  std::size_t footnote{};         // of what is missing: number of its footnote, from 1, in place of the text; 0: none
  std::optional<double> value{};  // of a number: all digits of it, in its column's unit; for programs
  std::string marks{};            // what is to be said of a time; a column of its own shows them, not this cell
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// @param cells  one a column; or fewer, and the last one then runs over the columns that are left
  /// @throws       std::invalid_argument  if there are none, or more than columns
  void add_row(std::vector<std::string> cells);
  void add_row_of(std::vector<Cell> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t column_count() const { return columns_.size(); }

  /// Returns the table without the columns that no row fills and, where there is a width, without as many `spare` ones
  /// as it takes for the others to fit, a left-aligned last column aside: text() may shorten that one.
  [[nodiscard]] Table without_spare_columns(std::optional<std::size_t> max_width) const;

  /// Columns aligned and two spaces apart, the header underlined; every line ends in a newline.
  /// @param max_width  columns of the terminal: left-aligned columns are shortened, the widest first, and a line that
  ///                   is too long even so is cut, with an ellipsis
  [[nodiscard]] std::string text(std::optional<std::size_t> max_width = std::nullopt) const;

  /// A GitHub table; every line ends in a newline.
  [[nodiscard]] std::string markdown() const;

  /// The header and one line per row. A footnote is left out: its cell is empty.
  [[nodiscard]] std::string csv() const;

  /// A longtable, for \usepackage{longtable}.
  [[nodiscard]] std::string latex(std::string_view caption) const;

  /// A `table` in a region that scrolls; a footnote is a link to `#how-NUMBER`. The first column is the row's header
  /// where it is left-aligned.
  [[nodiscard]] std::string html(std::string_view caption) const;

 private:
  [[nodiscard]] std::vector<std::vector<std::string>> texts() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// How a footnote is marked: `[2]`.
[[nodiscard]] std::string footnote_mark(std::size_t footnote);

}  // namespace tbench::render

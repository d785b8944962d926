// A table of text cells and all of its output formats: terminal text, Markdown, CSV, LaTeX and HTML. page.hpp writes
// the page around a table.
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
  /// Priority for dropping the column on a narrow terminal, the highest number first; 0 if it is always shown.
  int spare{0};
};

struct Cell {
  std::string text;
  std::size_t footnote{};         // footnote, from 1, that replaces the text of a missing value; 0 if none
  std::optional<double> value{};  // the number with all digits, in its column's unit, for programs
  std::string marks{};            // remarks on a time; a separate column shows them, not this cell
  std::string full{};             // the text that `text` shortens, for tooltips and for programs; empty if none
};

/// Returns a cell that shows the number with these decimals and keeps all of its digits for programs.
[[nodiscard]] Cell number_cell(double value, int decimals);

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// Adds a row.
  /// @param cells  one cell per column; if there are fewer, the last cell spans the remaining columns
  /// @throws       std::invalid_argument  if there are no cells, or more cells than columns
  void add_row(std::vector<std::string> cells);
  void add_row_of(std::vector<Cell> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t column_count() const { return columns_.size(); }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  /// Returns the table without the columns that no row fills. If there is a width, it also leaves out `spare` columns
  /// until the others fit. A left-aligned last column does not count, since text() may shorten it.
  [[nodiscard]] Table without_spare_columns(std::optional<std::size_t> max_width) const;

  /// Renders plain text: columns aligned and two spaces apart, the header underlined. Every line ends in a newline.
  /// @param max_width  width of the terminal: left-aligned columns are shortened to fit, the widest first; a line that
  ///                   is still too long is cut and ends in an ellipsis
  [[nodiscard]] std::string text(std::optional<std::size_t> max_width = std::nullopt) const;

  /// Renders plain text in at most `width` columns, with every cell in full. A table that is wider has its longest
  /// texts below their rows, each after its header: `note: ...`. If its numbers are still too many, they follow in
  /// further blocks. Every block begins with the columns left of all numbers, which name the row. Without a width,
  /// returns text().
  [[nodiscard]] std::string console(std::optional<std::size_t> width) const;

  /// Renders a GitHub table. Every line ends in a newline.
  [[nodiscard]] std::string markdown() const;

  /// Renders the header and one line per row. A cell with a footnote is empty.
  [[nodiscard]] std::string csv() const;

  /// Renders a longtable, for \usepackage{longtable}.
  [[nodiscard]] std::string latex(std::string_view caption) const;

  /// Renders a `table` in a scrollable region. A footnote is a link to `#how-NUMBER`. The first column is the row's
  /// header if it is left-aligned.
  [[nodiscard]] std::string html(std::string_view caption) const;

 private:
  [[nodiscard]] std::vector<std::vector<std::string>> texts() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Returns the mark of a footnote: `[2]`.
[[nodiscard]] std::string footnote_mark(std::size_t footnote);

}  // namespace tbench::render

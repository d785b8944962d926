// A table of text cells, for a terminal or as Markdown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/report/text_width.hpp"

namespace tbench::report {

struct Column {
  std::string header;  // with the unit
  Align align{Align::kLeft};
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

  /// @param cells  one a column; or fewer, and the last one then runs over the columns that are left
  /// @throws       std::invalid_argument  if there are none, or more than columns
  void add_row(std::vector<std::string> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t column_count() const { return columns_.size(); }

  /// Columns aligned and two spaces apart, the header underlined; every line ends in a newline.
  /// @param max_width  columns of the terminal: left-aligned columns are shortened, the widest first, and a line that
  ///                   is too long even so is cut, with an ellipsis
  [[nodiscard]] std::string text(std::optional<std::size_t> max_width = std::nullopt) const;

  /// A GitHub table; every line ends in a newline.
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A cell's text in Markdown: pipes, backslashes and angle brackets are escaped.
[[nodiscard]] std::string escape_markdown(std::string_view text);

}  // namespace tbench::report

// Reads the cells of a table that `tbench report --csv` prints, by the headers of their columns. If a time is not
// steady on a busy machine, the table has an additional column of marks. Looking up by header finds the other cells all
// the same.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tbench::test {

class CsvTable {
 public:
  using Row = std::map<std::string, std::string>;  // cells by header

  /// @param page  CSV whose first table ends at an empty line; later tables are ignored
  explicit CsvTable(std::string_view page) {
    std::vector<std::string> headers;
    for (std::vector<std::string> cells = next_line(page); !is_end(cells); cells = next_line(page)) {
      if (headers.empty()) {
        headers = std::move(cells);
        continue;
      }
      EXPECT_EQ(cells.size(), headers.size());
      Row row;
      for (std::size_t i = 0; i < cells.size() && i < headers.size(); ++i) row[headers[i]] = cells[i];
      rows_.push_back(std::move(row));
    }
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// @param key  cells that distinguish the row from all others
  /// @return     the row; empty, and the test fails, unless exactly one row matches
  [[nodiscard]] Row row(const Row& key) const {
    std::vector<const Row*> found;
    for (const Row& row : rows_) {
      if (has(row, key)) found.push_back(&row);
    }
    EXPECT_EQ(found.size(), 1U) << ::testing::PrintToString(key) << " in " << ::testing::PrintToString(rows_);
    return found.size() == 1 ? *found.front() : Row{};
  }

 private:
  static bool is_end(const std::vector<std::string>& cells) { return cells.size() == 1 && cells.front().empty(); }

  static bool has(const Row& row, const Row& key) {
    for (const auto& [header, cell] : key) {
      const auto found = row.find(header);
      if (found == row.end() || found->second != cell) return false;
    }
    return true;
  }

  /// Removes the first line from `page` and returns its cells. Returns one empty cell for an empty line and at the end.
  static std::vector<std::string> next_line(std::string_view& page) {
    std::vector<std::string> cells(1);
    bool is_quoted = false;
    while (!page.empty()) {
      const char next = page.front();
      page.remove_prefix(1);
      if (next == '"') {
        if (!is_quoted && !cells.back().empty()) cells.back() += '"';  // a doubled quote inside a quoted cell
        is_quoted = !is_quoted;
      } else if (next == ',' && !is_quoted) {
        cells.emplace_back();
      } else if (next == '\n' && !is_quoted) {
        break;
      } else {
        cells.back() += next;
      }
    }
    return cells;
  }

  std::vector<Row> rows_;
};

}  // namespace tbench::test

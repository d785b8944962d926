// Renders a table in a given width without losing a cell: long texts stand below their rows, and columns that still do
// not fit follow in further blocks.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/render/table.hpp"
#include "tbench/render/wrap.hpp"

namespace tbench::render {
namespace {

using Indexes = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

constexpr std::size_t kGap = 2;
constexpr std::size_t kHeaderLines = 2;
constexpr std::size_t kMinMoved = 24;  // shorter texts stay in their rows
constexpr std::size_t kIndent = 2;

/// The distribution of a table's columns.
class Layout {
 public:
  Layout(const std::vector<Column>& columns, const std::vector<Texts>& rows, std::size_t width)
      : columns_{columns}, width_{width} {
    for (const Column& column : columns) widths_.push_back(display_width(column.header));
    for (const Texts& row : rows) {
      const std::size_t count = runs_over(row) ? row.size() - 1 : row.size();
      for (std::size_t i = 0; i < count; ++i) widths_[i] = std::max(widths_[i], display_width(row[i]));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) beside_.push_back(i);
    move_long_texts();
  }

  /// Returns whether the last cell of a row spans the columns after it.
  [[nodiscard]] bool runs_over(const Texts& row) const { return row.size() < columns_.size(); }

  /// Returns whether the last cell of such a row fits after the other cells.
  [[nodiscard]] bool has_room_for(const Texts& row, const Indexes& block) const {
    const std::size_t last = row.size() - 1;
    if (std::ranges::find(block, last) == block.end()) return false;
    std::size_t used = display_width(row.back());
    for (const std::size_t i : block) used += i < last ? widths_[i] + kGap : 0;
    return used <= width_;
  }

  [[nodiscard]] const Indexes& below() const { return below_; }

  /// Returns whether a column names the row: it stands left of all numbers.
  [[nodiscard]] bool is_name(std::size_t column) const {
    return std::all_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(column) + 1,
                       [](const Column& c) { return c.align == Align::kLeft; });
  }

  /// Returns the columns of each block. Every block begins with the columns that name the row.
  [[nodiscard]] std::vector<Indexes> blocks() const {
    if (line_width(beside_) <= width_) return {beside_};
    Indexes names;
    std::ranges::copy_if(beside_, std::back_inserter(names), [&](std::size_t i) { return is_name(i); });
    std::vector<Indexes> blocks;
    for (const std::size_t i : beside_) {
      if (is_name(i)) continue;
      const bool fits = !blocks.empty() && line_width(blocks.back()) + kGap + widths_[i] <= width_;
      if (!fits) blocks.push_back(names);
      blocks.back().push_back(i);
    }
    if (blocks.empty()) blocks.push_back(names);
    return blocks;
  }

 private:
  [[nodiscard]] std::size_t line_width(const Indexes& block) const {
    std::size_t width = block.empty() ? 0 : kGap * (block.size() - 1);
    for (const std::size_t i : block) width += widths_[i];
    return width;
  }

  /// Returns whether the columns that name the row leave room for the widest of the others.
  [[nodiscard]] bool names_leave_room() const {
    Indexes names;
    std::size_t widest = 0;
    for (const std::size_t i : beside_) {
      if (is_name(i)) {
        names.push_back(i);
      } else {
        widest = std::max(widest, widths_[i]);
      }
    }
    return names.empty() || line_width(names) + (widest > 0 ? kGap + widest : 0) <= width_;
  }

  /// Moves the widest text column below the rows, again and again, until the others fit. A short one stays if blocks
  /// have room for it.
  void move_long_texts() {
    while (line_width(beside_) > width_ && beside_.size() > 1) {
      const auto rank = [&](std::size_t i) { return columns_[i].align == Align::kLeft ? widths_[i] : 0; };
      const auto widest = std::ranges::max_element(beside_, {}, rank);
      if (rank(*widest) < kMinMoved && names_leave_room()) return;
      below_.insert(std::ranges::lower_bound(below_, *widest), *widest);
      beside_.erase(widest);
    }
  }

  const std::vector<Column>& columns_;
  std::size_t width_;
  Indexes widths_;
  Indexes beside_;
  Indexes below_;
};

/// Returns the cells of a row that a block shows; empty cells for a row that is too short.
Texts cells_of(const Texts& row, const Indexes& block, const Layout& layout) {
  const bool is_over = layout.runs_over(row);
  const bool has_room = is_over && layout.has_room_for(row, block);
  Texts cells;
  for (const std::size_t i : block) {
    const bool is_last = is_over && i + 1 >= row.size();
    if (is_last && has_room) {
      cells.push_back(row.back());
      break;
    }
    cells.push_back(is_last ? "" : row[i]);
  }
  return cells;
}

/// Returns the texts that stand below a row of the first block, or of a further one.
Texts texts_below(const Texts& row, const std::vector<Column>& columns, const Layout& layout, const Indexes& block,
                  bool is_first) {
  Texts texts;
  const bool is_over = layout.runs_over(row);
  for (const std::size_t i : layout.below()) {
    const bool is_there = i < row.size() - (is_over ? 1 : 0) && !row[i].empty();
    if (!is_there || !(is_first || layout.is_name(i))) continue;
    texts.push_back(columns[i].header.empty() ? row[i] : columns[i].header + ": " + row[i]);
  }
  if (is_over && is_first && !layout.has_room_for(row, block)) texts.push_back(row.back());
  return texts;
}

}  // namespace

std::string Table::console(std::optional<std::size_t> max_width) const {
  if (!max_width) return text();
  const std::size_t width = *max_width;
  const std::vector<Texts> rows = texts();
  const Layout layout{columns_, rows, width};
  Texts lines;
  bool is_first = true;
  for (const Indexes& block : layout.blocks()) {
    std::vector<Column> columns;
    for (const std::size_t i : block) columns.push_back(columns_[i]);
    Table part{std::move(columns)};
    for (const Texts& row : rows) part.add_row(cells_of(row, block, layout));
    const Texts shown = split(part.text(width), '\n');
    if (!is_first) lines.emplace_back();
    lines.insert(lines.end(), shown.begin(), shown.begin() + kHeaderLines);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (const std::string& line = shown[kHeaderLines + i]; !line.empty()) lines.push_back(line);
      for (const std::string& text : texts_below(rows[i], columns_, layout, block, is_first)) {
        const std::string divided = divided_names(text, width - std::min(width, 2 * kIndent));
        add_wrapped(lines, std::string(kIndent, ' '), divided, 2 * kIndent, width);
      }
    }
    is_first = false;
  }
  return join(lines, "\n") + "\n";
}

}  // namespace tbench::render

// A page for people, for a terminal or as Markdown: labelled lines, tables, lists and a line that sums it up. And the
// generated parts of a Markdown file, between `<!-- tbench:NAME -->` and `<!-- /tbench:NAME -->`; the first marker may
// have the command that makes the part: `<!-- tbench:NAME report FILE ... -->`, on one line or several.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/render/table.hpp"

namespace tbench::render {

struct PageOptions {
  bool markdown{};
  bool colour{};                           // of the verdicts; ignored for Markdown
  std::optional<std::size_t> max_width{};  // columns of the terminal; ignored for Markdown
};

class Page {
 public:
  /// @param summary      first in Markdown, last on a terminal, where what is below the prompt is read first
  /// @param label_width  of line(), on a terminal
  Page(const PageOptions& options, std::string summary, std::size_t label_width);

  /// `label text`, the text on one line.
  void line(std::string_view label, std::string_view text);

  /// @param colour  a line of the table, coloured; asked where the page has colours
  void table(const Table& table, const std::function<std::string(const std::string& line)>& colour = {});

  /// A caption and one entry per line; nothing for no entries.
  /// @param most  of more entries, so many are listed and the rest is counted
  void list(std::string_view caption, std::span<const std::string> entries,
            std::optional<std::size_t> most = std::nullopt);

  [[nodiscard]] std::string take() &&;

 private:
  PageOptions options_;
  std::string summary_;
  std::size_t label_width_;
  std::string text_;
};

/// `document` with what stands between the markers of `name` replaced by `content`. The markers stay.
/// @throws  UsageError  naming the marker that is missing, there twice, or in the wrong order
[[nodiscard]] std::string replace_section(std::string_view document, std::string_view name, std::string_view content);

struct MarkdownSection {
  std::string name;
  std::vector<std::string> command;  // words that stood apart by blanks; empty: the marker has none
};

/// The sections whose first marker begins a line, in their order.
/// @throws  UsageError  naming a marker that does not end
[[nodiscard]] std::vector<MarkdownSection> sections_of(std::string_view document);

}  // namespace tbench::render

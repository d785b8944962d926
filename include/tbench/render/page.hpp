// A page for people, for a terminal or as Markdown: labelled lines, tables, lists and a summary line.
//
// Also the generated parts of a Markdown file, between `<!-- tbench:NAME -->` and `<!-- /tbench:NAME -->`. The first
// marker may contain the command that makes the part: `<!-- tbench:NAME report FILE ... -->`, on one or more lines.
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
  bool colour{};                           // colour the verdicts; ignored for Markdown
  std::optional<std::size_t> max_width{};  // lines are wrapped to this width; ignored for Markdown
};

class Page {
 public:
  /// @param summary      first line in Markdown, last line on a terminal, where the reader sees the end first
  /// @param label_width  width of the labels of line() on a terminal
  Page(const PageOptions& options, std::string_view summary, std::size_t label_width);

  /// Adds the line `label text`.
  void line(std::string_view label, std::string_view text);

  /// Adds a table.
  /// @param colour  returns a line of the table with its colours; called only if the page has colours
  void table(const Table& table, const std::function<std::string(const std::string& line)>& colour = {});

  /// Adds a caption and one entry per line. Adds nothing if there are no entries.
  /// @param most  largest number of entries that are listed; the others are only counted
  void list(std::string_view caption, std::span<const std::string> entries,
            std::optional<std::size_t> most = std::nullopt);

  /// Returns the text of the page.
  [[nodiscard]] std::string take() &&;

 private:
  /// Adds a text of a terminal, wrapped to its width. Its lines after the first begin with `indent` spaces.
  void add(std::string begin, const std::string& text, std::size_t indent);

  PageOptions options_;
  std::string summary_;
  std::size_t label_width_;
  std::string text_;
};

/// Returns `document` with `content` instead of the text between the markers of `name`. The markers stay.
/// @throws  UsageError  if a marker is missing, occurs twice, does not end, or is in the wrong order; the message names
///                      the marker
[[nodiscard]] std::string replace_section(std::string_view document, std::string_view name, std::string_view content);

struct MarkdownSection {
  std::string name;
  std::vector<std::string> command;  // words of the command, split at white space; empty if the marker has none
};

/// Returns the sections whose first marker begins a line, in their order.
/// @throws  UsageError  if a marker does not end; the message names the marker
[[nodiscard]] std::vector<MarkdownSection> sections_of(std::string_view document);

}  // namespace tbench::render

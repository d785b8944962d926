#include "tbench/render/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::render {
namespace {

constexpr std::string_view kOpening = "<!-- tbench:";
constexpr std::string_view kEnd = "-->";
constexpr std::string_view kBlanks = " \n";
constexpr std::size_t kIndent = 2;  // of entries, and of lines after the first one

/// Finds the next marker that begins with `marker` and a blank, from `begin` on.
std::size_t find_marker(std::string_view document, std::string_view marker, std::size_t begin) {
  std::size_t found = document.find(marker, begin);
  while (found != std::string_view::npos) {
    const std::size_t after = found + marker.size();
    if (after < document.size() && kBlanks.find(document[after]) != std::string_view::npos) return found;
    found = document.find(marker, found + 1);
  }
  return found;
}

/// Returns the position of the only marker that begins with `marker`.
/// @throws  UsageError  if there is none, or more than one
std::size_t find_only(std::string_view document, const std::string& marker) {
  const std::size_t found = find_marker(document, marker, 0);
  if (found == std::string_view::npos) {
    throw UsageError{fmt::format("the marker '{} -->' is missing; put it where the table shall be", marker)};
  }
  if (find_marker(document, marker, found + 1) != std::string_view::npos) {
    throw UsageError{fmt::format("the marker '{} -->' is there twice; leave one", marker)};
  }
  return found;
}

/// Returns the position after the end of the marker that begins at `begin`.
/// @throws  UsageError  if the marker does not end
std::size_t end_of_marker(std::string_view document, std::size_t begin) {
  const std::size_t end = document.find(kEnd, begin);
  if (end != std::string_view::npos) return end + kEnd.size();
  const std::string_view line = document.substr(begin, document.find('\n', begin) - begin);
  throw UsageError{fmt::format("the marker '{}' does not end; add -->", line)};
}

}  // namespace

Page::Page(const PageOptions& options, std::string_view summary, std::size_t label_width)
    : options_{options}, summary_{one_line(summary)}, label_width_{label_width} {
  if (options_.markdown) text_ = fmt::format("**{}**\n\n", escape_markdown(summary_));
}

void Page::line(std::string_view label, std::string_view text) {
  if (options_.markdown) {
    text_ += fmt::format("- {}: {}\n", label, escape_markdown(one_line(text)));
  } else {
    add(fmt::format("{:<{}} ", label, label_width_), one_line(text), label_width_ + 1);
  }
}

void Page::add(std::string begin, const std::string& text, std::size_t indent) {
  if (!options_.max_width) {
    text_ += begin + text + "\n";
    return;
  }
  std::vector<std::string> lines;
  add_wrapped(lines, std::move(begin), text, indent, *options_.max_width);
  text_ += join(lines, "\n") + "\n";
}

void Page::table(const Table& table, const std::function<std::string(const std::string& line)>& colour) {
  text_ += "\n";
  if (options_.markdown) {
    text_ += table.markdown();
    return;
  }
  const std::string text = table.console(options_.max_width);
  if (!options_.colour || !colour) {
    text_ += text;
    return;
  }
  std::vector<std::string> lines = split(text, '\n');
  lines.pop_back();  // the text ended in a newline
  for (const std::string& line : lines) text_ += colour(line) + "\n";
}

void Page::list(std::string_view caption, std::span<const std::string> entries, std::optional<std::size_t> most) {
  if (entries.empty()) return;
  const std::string shown_caption = one_line(caption);
  text_ += "\n";
  if (options_.markdown) {
    text_ += fmt::format("**{}**\n\n", escape_markdown(shown_caption));
  } else {
    add("", shown_caption + ":", kIndent);
  }
  const char* const bullet = options_.markdown ? "-" : " ";
  const std::size_t shown = std::min(entries.size(), most.value_or(entries.size()));
  for (const std::string& entry : entries.first(shown)) {
    const std::string text = one_line(entry);
    if (options_.markdown) {
      text_ += fmt::format("{} {}\n", bullet, escape_markdown(text));
    } else {
      add(std::string(kIndent, ' '), text, 2 * kIndent);
    }
  }
  if (shown < entries.size()) text_ += fmt::format("{} and {} more\n", bullet, entries.size() - shown);
}

std::string Page::take() && {
  if (!options_.markdown) {
    text_ += "\n";
    add("", summary_, kIndent);
  }
  return std::move(text_);
}

std::string replace_section(std::string_view document, std::string_view name, std::string_view content) {
  const std::string opening = fmt::format("<!-- tbench:{}", name);
  const std::string closing = fmt::format("<!-- /tbench:{}", name);
  const std::size_t first = end_of_marker(document, find_only(document, opening));
  const std::size_t last = find_only(document, closing);
  if (last < first) {
    throw UsageError{fmt::format("the marker '{} -->' stands before '{} -->'; swap them", closing, opening)};
  }
  return fmt::format("{}\n{}{}", document.substr(0, first), content, document.substr(last));
}

std::vector<MarkdownSection> sections_of(std::string_view document) {
  std::vector<MarkdownSection> sections;
  std::size_t begin = document.find(kOpening);
  while (begin != std::string_view::npos) {
    if (begin == 0 || document[begin - 1] == '\n') {
      const std::size_t words = begin + kOpening.size();
      const std::size_t end = end_of_marker(document, begin) - kEnd.size();
      std::istringstream text{std::string{document.substr(words, end - words)}};
      MarkdownSection section;
      text >> section.name;
      for (std::string word; text >> word;) section.command.push_back(word);
      sections.push_back(std::move(section));
    }
    begin = document.find(kOpening, begin + 1);
  }
  return sections;
}

}  // namespace tbench::render

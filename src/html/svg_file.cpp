#include "html/svg_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "html/page.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture.
constexpr double kTitle = 26;
constexpr double kLegendRow = 18;
constexpr double kSwatch = 12;
constexpr double kLetter = 7.2;
constexpr double kGap = 18;
constexpr double kMaxRow = 1120;  // width of a row of several pictures: five groups of bars

/// Returns the text between the first `open` and the `close` after it, or nullopt.
std::optional<std::string_view> between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(close, begin + open.size());
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + open.size(), end - begin - open.size());
}

/// Returns the colours and the rules of charts in page.css. The rules of `figure` apply to the whole file.
std::string style() {
  const std::string_view css = html_asset("page.css");
  const auto colours = between(css, ":root {", "}");
  const auto rules = between(css, "/* Charts. */", "/* End of the charts. */");
  if (!colours || !rules) throw std::logic_error{"page.css has no colours or no rules of charts"};
  std::string style = fmt::format(":root {{{}}}", *colours);
  for (const std::string& line : split(std::string{*rules}, '\n')) {
    constexpr std::string_view kFigure = "figure ";
    if (line.starts_with("figure {") || line.starts_with("figure >") || line.starts_with("figcaption")) continue;
    style += line.starts_with(kFigure) ? line.substr(kFigure.size()) : line;
  }
  return style;
}

/// A picture of a figure.
struct Picture {
  double width{};
  double height{};
  std::string_view content;
};

/// Returns the pictures of a figure, without the swatches of its legend: one, or one for each group of bars.
std::vector<Picture> pictures_of(std::string_view figure) {
  constexpr std::string_view kBegin = "<svg viewBox=\"0 0 ";
  std::string_view rest = figure.substr(0, figure.find("<ul class=\"legend\">"));
  std::vector<Picture> pictures;
  while (const auto box = between(rest, kBegin, "\"")) {
    rest.remove_prefix(rest.find(kBegin));
    const auto content = between(rest, ">", "</svg>");
    if (!content) break;
    const std::vector<std::string> extents = split(std::string{*box}, ' ');
    pictures.push_back({.width = std::strtod(extents.at(0).c_str(), nullptr),
                        .height = std::strtod(extents.at(1).c_str(), nullptr),
                        .content = *content});
    rest.remove_prefix(static_cast<std::size_t>(content->data() - rest.data()) + content->size());
  }
  if (pictures.empty()) throw std::invalid_argument{"svg_file: a figure without a picture"};
  return pictures;
}

/// Pictures in rows, as wide as the widest row.
struct Rows {
  double width{};
  double height{};
  std::string drawn;
};

/// Puts pictures side by side below `top`, and begins another row where the next one would not fit.
Rows rows_of(const std::vector<Picture>& pictures, double top) {
  Rows rows;
  double left = 0;
  double row_height = 0;
  for (const Picture& picture : pictures) {
    if (left > 0 && left + picture.width > kMaxRow) {
      rows.height += row_height;
      left = row_height = 0;
    }
    rows.drawn +=
        fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"0 0 {2} {3}\">{4}</svg>\n", left,
                    top + rows.height, picture.width, picture.height, picture.content);
    left += picture.width;
    rows.width = std::max(rows.width, left);
    row_height = std::max(row_height, picture.height);
  }
  rows.height += row_height;
  return rows;
}

/// Returns the entries of a legend: the swatch's markup and its name.
std::vector<std::array<std::string_view, 2>> entries_of(std::string_view legend) {
  std::vector<std::array<std::string_view, 2>> entries;
  while (const auto entry = between(legend, "<li>", "</li>")) {
    const std::size_t name = entry->find("</svg>");
    if (name != std::string_view::npos) entries.push_back({entry->substr(0, name), entry->substr(name + 6)});
    legend.remove_prefix(static_cast<std::size_t>(entry->data() - legend.data()) + entry->size());
  }
  return entries;
}

/// Returns the legend below `top`, and increases `top` by its height.
std::string legend_of(std::string_view figure, double width, double& top) {
  const auto legend = between(figure, "<ul class=\"legend\">", "</ul>");
  if (!legend) return "";
  std::string drawn;
  double left = 0;
  for (const auto& [swatch, name] : entries_of(*legend)) {
    const double room = kSwatch + 6 + kLetter * static_cast<double>(name.size()) + kGap;
    if (left > 0 && left + room > width) {
      left = 0;
      top += kLegendRow;
    }
    constexpr std::string_view kOpen = "<svg ";
    drawn += fmt::format("<svg x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" {}</svg>\n", left, top, kSwatch,
                         kSwatch, swatch.substr(kOpen.size()));
    drawn += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + kSwatch + 6, top + kSwatch - 2, name);
    left += room;
  }
  top += kLegendRow;
  return drawn;
}

/// Returns the text of HTML without tags, with its entities for `&`, `<`, `>` and `"` decoded.
std::string plain_text(std::string_view html) {
  std::string text;
  for (std::size_t at = 0; at < html.size(); ++at) {
    if (html[at] == '<') {
      at = std::min(html.find('>', at), html.size());
    } else {
      text += html[at];
    }
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEntities{
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}}};
  for (const auto& [entity, letter] : kEntities) {
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + letter.size())) {
      text.replace(at, entity.size(), letter);
    }
  }
  return text;
}

}  // namespace

std::string figure_title(std::string_view figure) {
  return plain_text(between(figure, "<figcaption>", "</figcaption>").value_or(""));
}

std::string svg_file(std::string_view figure) {
  static const std::string kStyle = style();
  const Rows rows = rows_of(pictures_of(figure), kTitle);
  double height = kTitle + rows.height + 6;
  const std::string legend = legend_of(figure, rows.width, height);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"system-ui, sans-serif\">\n<style>{2}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" style=\"fill:var(--card)\"/>\n"
      "<text x=\"4\" y=\"17\" style=\"font-weight:600\">{3}</text>\n{4}{5}</svg>\n",
      rows.width, height, kStyle, between(figure, "<figcaption>", "</figcaption>").value_or(""), rows.drawn, legend);
}

}  // namespace tbench::html

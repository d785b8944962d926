#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

using studies::StudyStep;

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 590;
constexpr double kLeft = 176;    // left edge of the bars; the names are to its left
constexpr double kLetter = 6.9;  // width of a letter in a label
constexpr double kApart = 14;    // gap before a column of labels
constexpr double kRow = 30;
constexpr double kBar = 18;
constexpr double kTop = 6;
constexpr double kBottom = 38;
constexpr double kLine = 14.5;           // height of a line in a name of two lines
constexpr std::size_t kMaxLetters = 26;  // largest length of a line in a name
constexpr double kThin = 1;              // drawn width of a bar that is too short to be seen
constexpr int kMaxSteps = 6;

/// A class of page.css, and the meaning of its bars.
struct Kind {
  std::string_view name;
  std::string_view meaning;
};
constexpr std::array<Kind, 4> kKinds{
    {{"floor", "at the ceiling"}, {"loss", "beyond it"}, {"gain", "less than it"}, {"sum", "sum of all above"}}};

/// The ends of a bar.
struct Span {
  double from{};
  double to{};
};

std::vector<Span> spans_of(const std::vector<WaterfallBar>& bars) {
  std::vector<Span> spans;
  double end = 0;
  for (const WaterfallBar& bar : bars) {
    if (!std::isfinite(bar.value)) throw std::invalid_argument{"waterfall_chart: " + bar.name + " is not finite"};
    const double from = bar.step == StudyStep::kSum ? 0 : end;
    end = from + bar.value;
    spans.push_back({.from = from, .to = end});
  }
  return spans;
}

std::string_view kind_of(const WaterfallBar& bar) {
  switch (bar.step) {
    case StudyStep::kFloor:
      return "floor";
    case StudyStep::kLoss:
      return bar.value < 0 ? "gain" : "loss";
    case StudyStep::kSum:
      return "sum";
    case StudyStep::kNone:
      break;
  }
  throw std::invalid_argument{"waterfall_chart: " + bar.name + " is not a step"};
}

/// Breaks a long name into two lines, and cuts the rest.
std::vector<std::string> lines_of(const std::string& name) {
  std::vector<std::string> lines{""};
  for (const std::string& word : split(name, ' ')) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > kMaxLetters) {
      if (lines.size() == 2) {
        line += " …";
        return lines;
      }
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

std::string name_at(double middle, const std::string& name) {
  constexpr double kDown = 4;  // distance from a letter's base to its middle
  const std::vector<std::string> lines = lines_of(name);
  std::string texts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double shift = kLine * (static_cast<double>(i) - static_cast<double>(lines.size() - 1) / 2);
    texts += text_at(kLeft - 8, middle + kDown + shift, "end", lines[i]);
  }
  return texts;
}

/// Returns the width of each column of labels, including the gap before it.
std::vector<double> label_widths(const std::vector<WaterfallBar>& bars) {
  std::vector<double> widths;
  for (const WaterfallBar& bar : bars) {
    widths.resize(std::max(widths.size(), bar.labels.size()));
    for (std::size_t i = 0; i < bar.labels.size(); ++i) {
      widths[i] = std::max(widths[i], kApart + kLetter * static_cast<double>(bar.labels[i].size()));
    }
  }
  return widths;
}

/// The positions of values on the axis.
struct Scale {
  double low{};
  double high{};
  double width{};
  [[nodiscard]] double operator()(double value) const { return kLeft + width * (value - low) / (high - low); }
};

/// Returns the scale on which all bars fit.
/// @param labels  the width of all columns of labels together
Scale scale_of(const std::vector<Span>& spans, double labels) {
  Scale scale{.low = 0, .high = 0, .width = kWidth - kLeft - labels};
  for (const Span& span : spans) {
    scale.low = std::min(scale.low, span.to);
    scale.high = std::max(scale.high, span.to);
  }
  if (!(scale.high > 0)) throw std::invalid_argument{"waterfall_chart: nothing above 0"};
  return scale;
}

std::string axis_of(const WaterfallChart& chart, const Scale& x, double bottom) {
  std::string axis;
  for (const double step : steps_from_zero(x.high, kMaxSteps)) {
    axis += grid_line(x(step), kTop, x(step), bottom);
    axis += text_at(x(step), bottom + 15, "middle", fmt::format("{:g}", step));
  }
  return axis + text_at(kLeft + x.width / 2, bottom + 31, "middle", chart.x);
}

std::string row_of(const WaterfallBar& bar, const Span& span, const Scale& x, const std::vector<double>& labels,
                   double middle) {
  const double left = x(std::min(span.from, span.to));
  const double width = std::max(kThin, x(std::max(span.from, span.to)) - left);
  const std::string detail = bar.detail.empty() ? "" : "; " + bar.detail;
  std::string row = fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}</title></rect>\n",
      kind_of(bar), left, middle - kBar / 2, width, kBar,
      render::escape_markup(fmt::format("{}: {}{}", bar.name, join(bar.labels, ", "), detail)));
  row += name_at(middle, bar.name);
  double end = kLeft + x.width;
  for (std::size_t i = 0; i < bar.labels.size(); ++i) {
    end += labels[i];
    row += text_at(end, middle + 4, "end", bar.labels[i]);
  }
  return row;
}

/// Returns the legend of the kinds of bars that occur.
std::string legend_of(const std::vector<WaterfallBar>& bars) {
  std::string entries = "<ul class=\"legend\">\n";
  for (const Kind& kind : kKinds) {
    if (std::ranges::none_of(bars, [&](const WaterfallBar& bar) { return kind_of(bar) == kind.name; })) continue;
    entries += fmt::format(
        "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"{}\" width=\"12\" height=\"12\"/></svg>"
        "{}</li>\n",
        kind.name, kind.meaning);
  }
  return entries + "</ul>\n";
}

}  // namespace

std::string waterfall_chart(const WaterfallChart& chart) {
  const std::vector<Span> spans = spans_of(chart.bars);
  const std::vector<double> labels = label_widths(chart.bars);
  const Scale x = scale_of(spans, std::accumulate(labels.begin(), labels.end(), 0.0));
  const double bottom = kTop + kRow * static_cast<double>(chart.bars.size());
  std::string figure = fmt::format(
      "<figure class=\"waterfall\">\n<figcaption>{0}</figcaption>\n"
      "<svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}: {3} parts and sums, which the table lists\">\n",
      render::escape_markup(chart.title), kWidth, bottom + kBottom, chart.bars.size());
  figure += axis_of(chart, x, bottom);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const double middle = kTop + kRow * (static_cast<double>(i) + 0.5);
    figure += row_of(chart.bars[i], spans[i], x, labels, middle);
    if (i + 1 == chart.bars.size()) continue;
    figure += fmt::format("<path class=\"link\" d=\"M{0:.2f} {1:.1f}V{2:.1f}\"/>\n", x(spans[i].to), middle + kBar / 2,
                          middle + kRow - kBar / 2);
  }
  figure += "</svg>\n" + legend_of(chart.bars);
  if (!chart.note.empty()) figure += fmt::format("<p class=\"note\">{}</p>\n", render::escape_markup(chart.note));
  return figure + "</figure>\n";
}

}  // namespace tbench::html

#include "html/plots/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

/// Returns all plots in the order of the page.
std::vector<Plot> all_plots() {
  std::vector<Plot> plots{comparison_plot()};
  for (std::vector<Plot> some : {model_plots(), operation_plots(), trace_plots()}) {
    for (Plot& plot : some) plots.push_back(std::move(plot));
  }
  return plots;
}

std::string section_of(const Plot& plot, const PlotData& data, const Cases& cases) {
  const Panels panels = plot.panels(data, cases);
  if (panels.empty()) return "";
  std::string note{plot.note};
  if (plot.id == "roofline") note += unplaced_note(cases);
  if (panels.size() > kMaxPanels) {
    note += fmt::format(" {} more panels are left out.", panels.size() - kMaxPanels);
  }
  std::string section = fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n<p class=\"note\">{2}</p>\n"
      "<div class=\"panels\">\n",
      plot.id, render::escape_markup(plot.title), render::escape_markup(note));
  for (std::size_t i = 0; i < std::min(panels.size(), kMaxPanels); ++i) section += panel_figure(panels[i]);
  return section + "</div></section>\n";
}

}  // namespace

std::string plots_html(std::span<const results::NamedResults> results, std::span<const FileComparison> comparisons) {
  const PlotData data{results, comparisons};
  const Cases& cases = data.cases();
  std::string sections;
  for (const Plot& plot : all_plots()) sections += section_of(plot, data, cases);
  return sections;
}

}  // namespace tbench::html

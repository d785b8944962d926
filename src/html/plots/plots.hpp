// The plots of the page of results. Each has panels, or none if the data has nothing to show in it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/plots/panels.hpp"
#include "html/plots/plot_case.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::html {

/// A plot: a section of the page with panels.
struct Plot {
  std::string_view id;  // of its element
  std::string_view title;
  std::string_view note;
  std::function<Panels(const PlotData& data, const Cases& cases)> panels;
};

// The plots by subject. The data outlives the plots.

/// Throughput, time and memory of models and of attention, achieved rates, and phases.
[[nodiscard]] std::vector<Plot> model_plots();
/// Cases under the ceilings of the same file.
[[nodiscard]] Plot roofline_plot();
/// Plots of operations with the ceilings that were measured: rooflines, shares, bandwidth and matrix products.
[[nodiscard]] std::vector<Plot> operation_plots();
/// Gaps between the operations of traced steps.
[[nodiscard]] Plot gap_plot();
/// Plots of traced steps: the GPU's time by phase and class of operation, and the gaps.
[[nodiscard]] std::vector<Plot> trace_plots();
/// The comparison of every file with the first one.
[[nodiscard]] Plot comparison_plot();

/// Returns the number of results that a roofline cannot show, as a sentence; empty if there are none.
[[nodiscard]] std::string unplaced_note(const Cases& cases);

/// The largest number of panels that a page has of one plot.
inline constexpr std::size_t kMaxPanels = 96;

/// Returns the markup of all plots: a `section` per plot that has panels.
[[nodiscard]] std::string plots_html(std::span<const results::NamedResults> results,
                                     std::span<const FileComparison> comparisons);

}  // namespace tbench::html

// The division of cases: which keys make panels, which of them make the series of a panel, and how a series looks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "html/plots/plot_case.hpp"

namespace tbench::html {

/// The keys that divide cases into panels, and the keys that tell a panel's series apart.
struct Division {
  Keys panel;
  Keys series;
};

/// Divides the cases so that no panel has more series than can be told apart: at most ten, and at most five for one
/// implementation.
/// @param x      keys of the axis
/// @param first  keys that always divide, if they vary
[[nodiscard]] Division divided(const Cases& cases, const Keys& x, const Keys& first = {"pass", "ctx"});

/// The cases of a series and its looks. The colour is the implementation; what else differs is a shade of it. A line is
/// dashed for CUDA graphs. The shape is the file; on a page of one file, it is the variant.
struct CaseSeries {
  std::string name;
  std::string colour;
  std::size_t shape{};
  bool is_graph{};
  std::size_t file{};
  Cases cases;
};

/// Returns the series of a panel. Series with the same name from several files are adjacent.
/// @param by  the keys that tell series apart
[[nodiscard]] std::vector<CaseSeries> series_of(const PlotData& data, const Cases& cases, const Keys& by);

/// Returns whether a legend says more than the title: one series without a name of its own needs none.
[[nodiscard]] bool has_names(const PlotData& data, const std::vector<CaseSeries>& series, const Keys& by);

/// Returns the name of a row: the values of the keys `by`. If there are none, the name is the implementation; if there
/// is none either, the family. With several files, the label of the file follows.
/// @param by  the keys that differ
[[nodiscard]] std::string row_name(const PlotData& data, const PlotCase& of, const Keys& by);

/// Returns the share of the text colour in the `index`-th of `count` shades.
[[nodiscard]] double shade_of(std::size_t index, std::size_t count);

}  // namespace tbench::html

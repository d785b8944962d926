// Selects and builds the charts of a study's section, and parses the headers of its tables.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "html/charts/charts.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

// The bars and waterfalls of a section, and its charts as markup.

/// Returns a chart for each quantity and each combination of the rows' keys after the first. The values of the first
/// key are the groups, and each column of the quantity is a bar. An implementation has the same colour on all pages.
/// Other differences between columns, such as the execution, are a hatch. Labels are the texts of the table, including
/// statuses. Leaves out columns and groups without a number, and derived quantities (see is_derived()).
[[nodiscard]] std::vector<BarChart> study_bars(const studies::StudySection& section);

/// Returns a chart for each case whose rows are steps. The lengths come from the first quantity, the labels are the
/// texts of all quantities, and the note is the note of the last row. Leaves out cases without such rows, which failed
/// or were not measured.
[[nodiscard]] std::vector<WaterfallChart> study_waterfalls(const studies::StudySection& section);

/// Returns a heat map for each column of speed-ups or changes and each combination of the rows' other keys. The axes
/// are `d_model` or `size`, and `seq_len` or `ctx`; a section without both among its rows' keys has no map. Leaves out
/// maps with one row or one column, and columns with several rows for one cell.
[[nodiscard]] std::vector<HeatMap> study_heat_maps(const studies::StudySection& section);

struct SectionFigures {
  std::vector<std::string> figures;
  std::size_t left_out{};  // number of charts that were left out
};

/// Returns the charts of a section: its own figures if it has some, else waterfalls if its rows are steps, else bars if
/// it has bars. A section with none of these has lines if it has a numeric axis, and heat maps of its ratios.
[[nodiscard]] SectionFigures section_figures(const studies::StudySection& section);

/// Returns the charts of each section of a report. A chart that an earlier section has is not repeated.
[[nodiscard]] std::vector<SectionFigures> report_figures(const studies::StudyReport& report);

// Selects the tables of a study that are plotted: the tables with a numeric axis.

struct StudyPlots {
  std::vector<LineChart> charts;
  std::size_t left_out{};  // number of charts that were left out
};

/// Returns a chart for each quantity of a section and each combination of the keys that would make too many lines.
/// The axis is a key with at least two values, among `seq_len`, `ctx`, `bytes`, `for gpus` and `size` (placed by its
/// number of parameters): the first one over the columns, or else the first one along the rows. Derived quantities
/// (speed-ups, changes, fits) have no chart. If there are more than three quantities, only the first one with a unit is
/// shown. There is no chart for a section without such an axis, or with several rows for one point, such as the kernels
/// of a case.
[[nodiscard]] StudyPlots study_plots(const studies::StudySection& section);

// The names that headers and captions of a study's tables give to their numbers.

/// The keys that can determine the colours. In a section, the first of them with several values does.
inline constexpr std::array<std::string_view, 3> kColouredKeys{"impl", "op", "strategy"};

using StudyKeys = std::vector<std::pair<std::string, std::string>>;  // keys and their values

/// Returns whether the texts of a column distinguish or describe its rows. Marks do neither.
[[nodiscard]] bool is_key(const render::Column& column);

/// The header of a column of numbers: `ctx:512 impl:flash forward ms` has the keys `ctx` and `impl`, and the quantity
/// `forward ms`.
struct StudyQuantity {
  StudyKeys keys;
  std::string name;
};

[[nodiscard]] StudyQuantity quantity_of(const std::string& header);

/// Returns whether a quantity follows from others: a speed-up, a change, a fit or a deviation.
[[nodiscard]] bool is_derived(const std::string& quantity);

/// Returns the quantity that a caption names, for tables whose headers do not: `Median ms` for `Model batch:4. Median
/// ms by context; ...`.
[[nodiscard]] std::string quantity_of_caption(const std::string& caption);

/// Returns the value of `key`; empty if there is no such key.
[[nodiscard]] std::string value_of(const StudyKeys& keys, std::string_view key);

/// Joins the values of the keys `of` to a name, with numbers after their key: `ctx 512 flash`.
[[nodiscard]] std::string joined(const StudyKeys& keys, const std::vector<std::string>& of);
/// Joins the values of all keys to a name in the same way.
[[nodiscard]] std::string joined(const StudyKeys& keys);

}  // namespace tbench::html

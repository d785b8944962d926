// Which charts a section of a study gets, and what the headers of its tables say that their numbers are.
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

// The charts of a section of a study, as markup: what its bars and waterfalls are made of, and which it gets.

/// A chart for each quantity and each combination of the rows' keys but the first, whose values are the groups; a bar
/// for each of the quantity's columns. An implementation has its colour on all pages; what else tells columns apart, an
/// execution say, is a hatch. Labels are the table's own texts, marks and statuses too. Columns and groups that have no
/// number, and quantities that follow from others, are left out.
[[nodiscard]] std::vector<BarChart> study_bars(const studies::StudySection& section);

/// Makes one chart for each case whose rows are steps, from nothing but those rows: lengths come from the first
/// quantity, labels are the texts of all quantities, the note is the note of the last row. Cases without rows, since
/// they failed or were not measured, are left out.
[[nodiscard]] std::vector<WaterfallChart> study_waterfalls(const studies::StudySection& section);

struct SectionFigures {
  std::vector<std::string> figures;
  std::size_t left_out{};  // charts that there were besides
};

/// Waterfalls where its rows are steps, bars where it has bars, otherwise lines where it has an axis of numbers.
[[nodiscard]] SectionFigures section_figures(const studies::StudySection& section);

// Selects the tables of a study that are plotted: the tables with a numeric axis.

struct StudyPlots {
  std::vector<LineChart> charts;
  std::size_t left_out{};  // charts that there were besides
};

/// A chart for each quantity of a section and each combination of the keys that would make too many lines. The axis is
/// the first that there is of seq_len, ctx, bytes, for gpus and size (by its parameters), along the rows or over the
/// columns, with two values at least. Quantities that others follow from (speed-ups, changes, fits) are none, and of
/// more than three only the first one with a unit is shown. Nothing for a section without such an axis; no chart that
/// has several rows for one point, as of a case's kernels.
[[nodiscard]] StudyPlots study_plots(const studies::StudySection& section);

// The names that headers and captions of a study's tables give to their numbers.

/// Keys whose values have a colour each: of a section the first that has several.
inline constexpr std::array<std::string_view, 3> kColouredKeys{"impl", "op", "strategy"};

using StudyKeys = std::vector<std::pair<std::string, std::string>>;  // and values

/// A column of numbers: `ctx:512 impl:flash forward ms` is of these keys, and its quantity is `forward ms`.
struct StudyQuantity {
  StudyKeys keys;
  std::string name;
};

[[nodiscard]] StudyQuantity quantity_of(const std::string& header);

/// Whether a quantity follows from others: a speed-up, a change, a fit, a deviation.
[[nodiscard]] bool is_derived(const std::string& quantity);

/// Returns the name that a caption gives to its numbers, where no header does: `Median ms` of `Model batch:4. Median ms
/// by context; ...`.
[[nodiscard]] std::string quantity_of_caption(const std::string& caption);

/// Empty for a key that there is not.
[[nodiscard]] std::string value_of(const StudyKeys& keys, std::string_view key);

/// The values of `of` as a name, numbers after their key: `ctx 512 flash`.
[[nodiscard]] std::string joined(const StudyKeys& keys, const std::vector<std::string>& of);
/// Joins the texts of all keys.
[[nodiscard]] std::string joined(const StudyKeys& keys);

}  // namespace tbench::html

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "html/sections/section_figures.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 2> kColumnKeys{"seq_len", "ctx"};
constexpr std::array<std::string_view, 2> kRowKeys{"d_model", "size"};

/// The meaning of a column's numbers, which compare a case with its base.
struct Ratio {
  const char* ending;  // of the column's header
  std::optional<double> (*gain)(double value);
  const char* better;
  const char* worse;
};

std::optional<double> gain_of_speed_up(double value) {
  return value > 0 ? std::optional{std::log(value)} : std::nullopt;
}

std::optional<double> gain_of_change(double percent) {
  const double ratio = 1 + percent / 100;
  return ratio > 0 ? std::optional{-std::log(ratio)} : std::nullopt;
}

constexpr std::array<Ratio, 2> kRatios{{{" speed-up", &gain_of_speed_up, "faster than the base", "slower"},
                                        {" change %", &gain_of_change, "less than the base", "more"}}};

/// Returns what a quantity compares, or null if it does not compare two cases.
const Ratio* ratio_of(const std::string& quantity) {
  const std::string after_space = " " + quantity;
  const auto found =
      std::ranges::find_if(kRatios, [&](const Ratio& ratio) { return after_space.ends_with(ratio.ending); });
  return found == kRatios.end() ? nullptr : &*found;
}

/// Returns the index of the first of the keys that is a column of the rows' keys, or nullopt.
template <std::size_t kCount>
std::optional<std::size_t> column_of(const StudySection& section, const std::array<std::string_view, kCount>& keys) {
  for (const std::string_view key : keys) {
    const auto found = std::ranges::find_if(
        section.columns, [&](const render::Column& column) { return is_key(column) && column.header == key; });
    if (found != section.columns.end()) return static_cast<std::size_t>(found - section.columns.begin());
  }
  return std::nullopt;
}

std::size_t place_in(Texts& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

/// The columns of a section that are a map's axes.
struct Axes {
  std::size_t row{};
  std::size_t column{};
};

/// Returns the name of the map that a row of the section belongs to: the values of its other keys.
std::string map_name(const StudySection& section, const std::vector<StudyCell>& row, const Axes& axes) {
  StudyKeys others;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i != axes.row && i != axes.column && is_key(section.columns[i])) {
      others.emplace_back(section.columns[i].header, row[i].text);
    }
  }
  return joined(others);
}

/// Adds a cell to the map.
/// @return  whether the cell was free
bool add(HeatMap& map, const std::string& row, const std::string& column, HeatCell cell) {
  const std::size_t r = place_in(map.rows, row);
  const std::size_t c = place_in(map.columns, column);
  map.cells.resize(map.rows.size());
  for (auto& cells : map.cells) cells.resize(map.columns.size());
  HeatCell& place = map.cells[r][c];
  if (place.gain) return false;
  place = std::move(cell);
  return true;
}

bool has_shape(const HeatMap& map) { return map.rows.size() > 1 && map.columns.size() > 1; }

/// Returns the maps of one column of numbers. The result is empty if two rows have the same cell.
std::vector<HeatMap> maps_of(const StudySection& section, std::size_t index, const Axes& axes) {
  const StudyQuantity quantity = quantity_of(section.columns[index].header);
  const Ratio* const ratio = ratio_of(quantity.name);
  if (ratio == nullptr) return {};
  Texts names;
  std::vector<HeatMap> maps;
  for (const auto& row : section.rows) {
    const std::optional<double> gain = row[index].value ? ratio->gain(*row[index].value) : std::nullopt;
    if (!gain) continue;
    const std::string name = map_name(section, row, axes);
    const std::size_t at = place_in(names, name);
    if (at == maps.size()) {
      Texts title{name, joined(quantity.keys), quantity.name};
      std::erase(title, "");
      maps.push_back({.title = join(title, " "),
                      .x = section.columns[axes.column].header,
                      .y = section.columns[axes.row].header,
                      .columns = {},
                      .rows = {},
                      .cells = {},
                      .better = ratio->better,
                      .worse = ratio->worse});
    }
    if (!add(maps[at], row[axes.row].text, row[axes.column].text, {.gain = gain, .label = row[index].text})) return {};
  }
  std::erase_if(maps, [](const HeatMap& map) { return !has_shape(map); });
  return maps;
}

}  // namespace

std::vector<HeatMap> study_heat_maps(const StudySection& section) {
  const std::optional<std::size_t> row = column_of(section, kRowKeys);
  const std::optional<std::size_t> column = column_of(section, kColumnKeys);
  std::vector<HeatMap> all;
  if (!row || !column) return all;
  for (std::size_t i = 0; i < section.columns.size(); ++i) {
    if (section.columns[i].align == render::Align::kLeft) continue;
    std::ranges::move(maps_of(section, i, {.row = *row, .column = *column}), std::back_inserter(all));
  }
  return all;
}

}  // namespace tbench::html

#include "studies/writeup/study_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

bool has_axis(const Study& study, const AxisOverride& change) {
  return std::ranges::any_of(study.grids, [&](const FamilyGrid& grid) {
    return grid.family == change.family && std::ranges::find(grid.axes, change.axis.key, &Axis::key) != grid.axes.end();
  });
}

/// Returns the axes of all studies as `Family.key`.
Texts known_axes(const Writeup& writeup) {
  Texts known;
  for (const Study& study : writeup.studies()) {
    for (const FamilyGrid& grid : study.grids) {
      for (const Axis& axis : grid.axes) known.push_back(grid.family + "." + axis.key);
    }
  }
  return known;
}

/// Returns `Family.key=values` for `key=values` or `key:values`, or nullopt if no study has such a key. A key's own
/// name takes precedence over another name for a key.
std::optional<std::string> with_family(const Writeup& writeup, std::string_view text) {
  const std::size_t end = text.find_first_of("=:");
  if (end == std::string_view::npos || end + 1 == text.size()) return std::nullopt;
  const std::string_view name = text.substr(0, end);
  const Texts known = known_axes(writeup);
  Texts keys;
  for (const std::string& axis : known) keys.push_back(axis.substr(axis.find('.') + 1));
  const auto exact = std::ranges::find(keys, name);
  const auto key = exact == keys.end() ? recognise_value(name, keys) : std::optional{*exact};
  if (!key) return std::nullopt;
  const auto at = std::ranges::find(keys, *key) - keys.begin();
  return fmt::format("{}={}", known[static_cast<std::size_t>(at)], text.substr(end + 1));
}

}  // namespace

std::vector<AxisOverride> axes_of(const Study& study, const std::vector<AxisOverride>& axes) {
  std::vector<AxisOverride> own;
  std::ranges::copy_if(axes, std::back_inserter(own), [&](const AxisOverride& axis) { return has_axis(study, axis); });
  return own;
}

void refuse_unknown_axes(const Writeup& writeup, const std::vector<AxisOverride>& axes) {
  const auto studies = writeup.studies();
  for (const AxisOverride& axis : axes) {
    if (std::ranges::any_of(studies, [&](const Study& study) { return has_axis(study, axis); })) continue;
    const std::string name = axis.family + "." + axis.axis.key;
    throw UsageError{with_suggestion(fmt::format("--axis={}: none of {} has this axis", name, writeup.name), name,
                                     known_axes(writeup), "axes")};
  }
}

AxisOverride parse_study_axis(const Writeup& writeup, std::string_view text, std::string_view flag) {
  const std::string_view name = text.substr(0, text.find_first_of("=:"));
  const auto meant = name.find('.') == std::string_view::npos ? with_family(writeup, text) : std::nullopt;
  if (meant) throw UsageError{fmt::format("{}={}: names no family{}", flag, text, did_you_mean_text(meant))};
  return parse_axis_override(text, flag);
}

}  // namespace tbench::studies

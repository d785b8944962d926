#include "studies/engine/study_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

bool is_ranking(const StudyRowTable& table) { return table.top > 0; }

/// Returns whether other columns leave the meaning of the table's quantities as it is.
bool is_pivotable(const StudyTable& table) {
  return !table.speed_up && !table.fit && !table.has_boundary && !table.quantities_down &&
         std::ranges::none_of(table.columns, [](const StudyColumn& column) { return column.only_of.has_value(); });
}

bool has_key(const Study& study, std::string_view key) {
  return std::ranges::any_of(study.grids, [&](const FamilyGrid& grid) {
    return std::ranges::find(grid.axes, key, &Axis::key) != grid.axes.end();
  });
}

bool takes_pivot(const Study& study, const Texts& keys) {
  return std::ranges::any_of(study.tables, &is_pivotable) &&
         std::ranges::all_of(keys, [&](const std::string& key) { return has_key(study, key); });
}

/// Returns the keys of all studies, each once.
Texts keys_of(std::span<const std::reference_wrapper<const Study>> studies) {
  Texts keys;
  for (const Study& study : studies) {
    for (const FamilyGrid& grid : study.grids) {
      for (const Axis& axis : grid.axes) {
        if (std::ranges::find(keys, axis.key) == keys.end()) keys.push_back(axis.key);
      }
    }
  }
  return keys;
}

Texts studies_with_rankings() {
  Texts names;
  for (const Study& study : all_studies()) {
    if (std::ranges::any_of(study.row_tables, &is_ranking)) names.push_back(study.name);
  }
  return names;
}

}  // namespace

Study shaped(Study study, const StudyOptions& options) {
  if (options.top) {
    for (StudyRowTable& table : study.row_tables) {
      if (is_ranking(table)) table.top = *options.top;
    }
  }
  if (!options.pivot.empty() && takes_pivot(study, options.pivot)) {
    for (StudyTable& table : study.tables) {
      if (is_pivotable(table)) table.spread = options.pivot;
    }
  }
  return study;
}

void refuse_unused_shape(std::span<const std::reference_wrapper<const Study>> studies, const StudyOptions& options) {
  const bool has_ranking = std::ranges::any_of(
      studies, [](const Study& study) { return std::ranges::any_of(study.row_tables, &is_ranking); });
  if (options.top && !has_ranking) {
    throw UsageError{fmt::format("--top={}: no table is a ranking; studies with one: {}", *options.top,
                                 join(studies_with_rankings(), ", "))};
  }
  if (options.pivot.empty()) return;
  const Texts known = keys_of(studies);
  for (const std::string& key : options.pivot) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw UsageError{
        with_suggestion(fmt::format("--pivot={}: no such parameter of the study", key), key, known, "parameters")};
  }
  if (std::ranges::any_of(studies, [&](const Study& study) { return takes_pivot(study, options.pivot); })) return;
  throw UsageError{
      fmt::format("--pivot={}: none of the tables can have other columns, because theirs are part of what "
                  "they compare. Leave it out.",
                  join(options.pivot, ","))};
}

}  // namespace tbench::studies

#include "studies/engine/study_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

/// Returns whether other columns leave the meaning of the table's quantities as it is. The sizes themselves are the
/// rows of a table without times.
bool is_pivotable(const StudyTable& table) {
  return !table.is_without_times && !table.speed_up && !table.fit && !table.has_boundary && !table.quantities_down &&
         std::ranges::none_of(table.columns, [](const StudyColumn& column) { return column.only_of.has_value(); });
}

/// Returns whether the study's cases differ in the key. The run decides the values of an axis without values.
bool varies(const Study& study, std::string_view key) {
  std::set<std::string> values;
  for (const FamilyGrid& grid : study.grids) {
    const auto axis = std::ranges::find(grid.axes, key, &Axis::key);
    if (axis == grid.axes.end()) continue;
    if (axis->values.empty()) return true;
    values.insert(axis->values.begin(), axis->values.end());
  }
  return values.size() > 1;
}

/// Returns whether the keys can be columns of a table of the study.
bool takes_pivot(const Study& study, const Texts& keys) {
  return std::ranges::any_of(study.tables, &is_pivotable) &&
         std::ranges::all_of(keys, [&](const std::string& key) { return varies(study, key); });
}

/// Spreads the keys over columns. Several quantities become rows, so that the table has a column per value.
void spread(StudyTable& table, const Texts& keys) {
  table.spread = keys;
  table.quantities_down = table.columns.size() > 1;
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

/// Returns `a, b or c`.
std::string in_words(Texts names) {
  if (names.size() < 2) return join(names, "");
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", join(names, ", "), last);
}

constexpr const char* kLongest = "ranked_kernels";  // the ranking of whole phases

/// Returns the names of the studies with rankings. The study of whole phases comes first.
Texts studies_with_rankings() {
  Texts names;
  for (const Study& study : all_studies()) {
    if (std::ranges::any_of(study.row_tables, &is_ranking)) names.push_back(study.name);
  }
  std::ranges::stable_partition(names, [](const std::string& name) { return name == kLongest; });
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
      if (is_pivotable(table)) spread(table, options.pivot);
    }
  }
  return study;
}

void refuse_unused_shape(std::span<const std::reference_wrapper<const Study>> studies, const StudyOptions& options) {
  const bool has_ranking = std::ranges::any_of(
      studies, [](const Study& study) { return std::ranges::any_of(study.row_tables, &is_ranking); });
  if (options.top && !has_ranking) {
    throw UsageError{fmt::format("--top={}: {} no ranking; use --study={}", *options.top,
                                 studies.size() == 1 ? studies.front().get().name + " has" : "the studies have",
                                 in_words(studies_with_rankings()))};
  }
  if (options.pivot.empty()) return;
  const Texts known = keys_of(studies);
  for (const std::string& key : options.pivot) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw UsageError{
        with_suggestion(fmt::format("--pivot={}: no such parameter of the study", key), key, known, "parameters")};
  }
  if (std::ranges::any_of(studies, [&](const Study& study) { return takes_pivot(study, options.pivot); })) return;
  throw UsageError{fmt::format(
      "--pivot={}: no table can have these columns, because its cases have one value of them, or because its "
      "own columns are part of what it compares. Leave it out.",
      join(options.pivot, ","))};
}

}  // namespace tbench::studies

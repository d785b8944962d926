// Several studies that one run measures and one report shows: the studies that a list names, or the chapters of a
// built-in write-up.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/study.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// Studies under one heading.
struct Chapter {
  std::string title;  // empty for a study that is shown alone
  std::vector<Study> studies;
};

struct Writeup {
  std::string name;   // value of --tb_study and --study: `precision`, `precision,memory`, `writeup`
  std::string title;  // one line
  std::vector<Chapter> chapters;
  /// Whether cells without a measurement stay empty, and one line below all tables names their cases. Otherwise each of
  /// these cells has a footnote with its command.
  bool sums_up_missing{};

  /// Returns the studies of all chapters, in their order.
  [[nodiscard]] std::vector<std::reference_wrapper<const Study>> studies() const&;
  std::vector<std::reference_wrapper<const Study>> studies() && = delete;  // they would refer to a temporary object
};

/// Returns the names of all studies, followed by the names of the built-in write-ups.
[[nodiscard]] std::vector<std::string> known_study_names();

/// Returns the studies of a list of names, separated by commas. A study that the list names twice counts once.
/// @param flag  the flag that gave the list, for the error
/// @throws      UsageError  for an unknown name, with the nearest name and all names; for an empty name
[[nodiscard]] Writeup find_writeup(std::string_view names, std::string_view flag);

/// Parses `Family.key=v1,v2` for the studies of the write-up.
/// @param flag  the flag that gave the text, for the error
/// @throws      UsageError  for any other text; for a key without its family, with the family that has the key
[[nodiscard]] AxisOverride parse_study_axis(const Writeup& writeup, std::string_view text, std::string_view flag);

/// Returns the reports of all studies as one, in which each chapter's first section has the chapter's title.
/// @throws  UsageError  as study_report(); a filter or an axis that only some of the studies know applies to these
[[nodiscard]] StudyReport writeup_report(const Writeup& writeup, std::span<const results::NamedResults> results,
                                         const StudyOptions& options);

}  // namespace tbench::studies

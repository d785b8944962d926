// Formats a profile: as tables for a terminal, in Markdown, CSV and LaTeX, and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::profile {

struct ProfileTable {
  std::string name;     // for the command line: `kernels`
  std::string caption;  // description of the table
  render::Table table;
};

struct TableOptions {
  std::int64_t steps{1};  // number of steps in the trace, at least 1; counts and totals are divided by it
  std::size_t top{10};    // maximum number of kernels per phase, and of calls
  bool has_full_names{};  // kernels are shown with template arguments and parameters
};

/// Returns the names of the tables, in their order.
[[nodiscard]] std::vector<std::string> profile_table_names();

/// Returns all tables that have a row, in the order of profile_table_names().
[[nodiscard]] std::vector<ProfileTable> profile_tables(const Profile& profile, const TableOptions& options);

/// Returns the notes that a reader needs before the figures, each as one sentence: operations without a launch or a
/// range, the share of class `other` if it is over 2 %, and graphs traced as a whole.
[[nodiscard]] std::vector<std::string> profile_notes(const Profile& profile);

/// Returns the conclusion: EMPTY without operations, INCOMPLETE if the trace lacks kernels or launches, UNCLASSIFIED if
/// the rules know too few of the kernels, HOST if a device waits for the host, otherwise DEVICE. Its reasons include
/// the notes.
/// @param command  the command that shows the tables, for the next command: `tbench profile DIR`
[[nodiscard]] results::Conclusion profile_conclusion(const Profile& profile, const std::string& command);

/// Returns the conclusion and the whole profile as JSON. Times are in seconds. Counts and totals are for the whole
/// trace.
/// @param command  as in profile_conclusion
[[nodiscard]] std::string profile_json(const Profile& profile, std::int64_t steps, const std::string& command);

enum class PageFormat { kText, kMarkdown, kCsv, kLatex };

/// Returns the tables as a page in the given format.
/// @param heading    lines above the tables, which name the input
/// @param tables     names of the tables to show, which keep the order of profile_table_names(); if empty, all tables
/// @param max_width  columns of the terminal
/// @throws           UsageError  for an unknown name of a table
[[nodiscard]] std::string profile_page(const Profile& profile, const TableOptions& options, PageFormat format,
                                       const std::vector<std::string>& heading, const std::vector<std::string>& tables,
                                       std::optional<std::size_t> max_width);

}  // namespace tbench::profile

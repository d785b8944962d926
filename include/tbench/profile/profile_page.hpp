// A profile as people and programs read it: tables for a terminal, Markdown, CSV and LaTeX, and JSON.
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
  std::int64_t steps{1};  // number of steps in the trace: counts and totals are divided by it, at least 1
  std::size_t top{10};    // kernels of a phase, and calls
  bool has_full_names{};  // of kernels: with template arguments and parameters
};

/// The names of the tables, in their order.
[[nodiscard]] std::vector<std::string> profile_table_names();

/// All tables that have a row, in the order of their names.
[[nodiscard]] std::vector<ProfileTable> profile_tables(const Profile& profile, const TableOptions& options);

/// Returns what a reader must know before the figures, one sentence each: operations without a launch or a range, the
/// share of class `other` where it is over 2 %, graphs traced as a whole.
[[nodiscard]] std::vector<std::string> profile_notes(const Profile& profile);

/// INCOMPLETE where the trace lacks kernels or launches, UNCLASSIFIED where the rules know too few of the kernels, HOST
/// where a device waits for the host, otherwise DEVICE; EMPTY without operations. The notes are among the causes.
/// @param command  that shows the tables, for the one that follows: `tbench profile DIR`
[[nodiscard]] results::Conclusion profile_conclusion(const Profile& profile, const std::string& command);

/// The conclusion and everything, times in seconds, counts and totals of the whole trace.
/// @param command  as profile_conclusion
[[nodiscard]] std::string profile_json(const Profile& profile, std::int64_t steps, const std::string& command);

enum class PageFormat { kText, kMarkdown, kCsv, kLatex };

/// @param heading    lines above the tables: what was read
/// @param tables     only these, in their order; all if empty
/// @param max_width  of a terminal
/// @throws           UsageError  for a table that has no such name
[[nodiscard]] std::string profile_page(const Profile& profile, const TableOptions& options, PageFormat format,
                                       const std::vector<std::string>& heading, const std::vector<std::string>& tables,
                                       std::optional<std::size_t> max_width);

}  // namespace tbench::profile

// The command line of `tbench report`, and of the sections of a document that it fills.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tbench/render/report_page.hpp"

namespace tbench::tool {

struct ReportArguments {
  std::vector<std::string> files;
  std::string html;
  render::ReportOptions options;
  std::string pivot;  // keys, separated by commas
  std::string show{"ms"};
  bool hides_environment{};
  std::string study;
  std::vector<std::string> axes;
  bool csv{};
  bool latex{};
  bool json{};
  // Measurements of the same work side by side.
  std::vector<std::string> of;  // selectors, `key:value/key:value`
  std::string over;
  std::string rows;  // keys, separated by commas
  bool repeat{};
  bool limits{};
  bool host_times{};
  std::string pytorch;
  bool self_comparison{};
  bool manifest{};
  // Documents.
  std::string update;
  std::string section;
  std::vector<std::string> check;
};

/// What one table is made from. `arguments` outlives the parsing.
void declare_table_options(CLI::App& command, ReportArguments& arguments);
/// Where it goes: a page, a section of a document.
void declare_output_options(CLI::App& command, ReportArguments& arguments);

/// The kinds of tables that exclude each other, as they were asked for: "--study", "--repeat".
[[nodiscard]] std::vector<std::string> table_kinds(const ReportArguments& arguments);

}  // namespace tbench::tool

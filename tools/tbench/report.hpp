// `tbench report`: its command line, also for the sections of a document that it fills, and the tables and pages that
// it asks for.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tbench/render/report_page.hpp"
#include "tbench/results/result_file.hpp"

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
  std::string ncu;
  bool self_comparison{};
  bool manifest{};
  bool experiments{};
  // Documents.
  std::string update;
  std::string section;
  std::vector<std::string> check;
};

/// Declares what one table is made from. `arguments` outlives the parsing.
void declare_table_options(CLI::App& command, ReportArguments& arguments);
/// Declares the output: a page, a section of a document.
void declare_output_options(CLI::App& command, ReportArguments& arguments);

/// The kinds of tables that exclude each other, as they were asked for: "--study", "--repeat".
[[nodiscard]] std::vector<std::string> table_kinds(const ReportArguments& arguments);

/// Results files, each read once. Paths are relative to a folder.
class ResultFiles {
 public:
  explicit ResultFiles(std::filesystem::path folder) : folder_{std::move(folder)} {}

  /// Returns the file's results with the results of its journal: a killed run leaves its last records there. Says so on
  /// stderr.
  /// @throws  UsageError  as results::read_result_file
  const results::ResultFile& at(const std::string& path);
  /// Labelled by the files' names, by their paths where two have the same name. A file that cannot be read is named on
  /// stderr and passed over, if that is let and another can be read.
  /// @throws  UsageError  as at(), for the first file
  std::vector<results::NamedResults> all(const std::vector<std::string>& paths);
  void let_pass_over() { may_pass_over_ = true; }
  [[nodiscard]] bool has_passed_over() const { return !passed_over_.empty(); }
  [[nodiscard]] std::string path_of(const std::string& path) const { return (folder_ / path).string(); }

 private:
  std::filesystem::path folder_;
  std::map<std::string, results::ResultFile> files_;
  std::set<std::string> passed_over_;
  bool may_pass_over_{};
};

/// Folders among `paths` replaced by the results in them and below them, by name. Says on stderr which of their files
/// are none.
/// @throws  UsageError  for a folder without results
[[nodiscard]] std::vector<std::string> without_folders(const std::vector<std::string>& paths);

/// The tables as text, Markdown, CSV or LaTeX.
/// @throws  UsageError  naming the option, the value and the remedy
[[nodiscard]] std::string report_table(const ReportArguments& arguments, ResultFiles& files);

/// Writes the HTML page of -o.
/// @throws  as report_table
void write_report_page(const ReportArguments& arguments, ResultFiles& files);

}  // namespace tbench::tool

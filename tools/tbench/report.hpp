// `tbench report`: its command line, which sections of a document use, too, and the tables and pages that it makes.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>
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
  std::optional<std::size_t> top;
  bool csv{};
  bool latex{};
  bool json{};
  // Comparisons of measurements of the same work.
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
  bool headline{};
  std::vector<std::string> prices;  // with `headline`: GPU=PRICE
  // Documents.
  std::string update;
  std::string section;
  std::vector<std::string> check;
};

/// Declares the options for the input and the kind of one table. `arguments` must outlive the parsing.
void declare_table_options(CLI::App& command, ReportArguments& arguments);
/// Declares the options for the output: a page, or a section of a document.
void declare_output_options(CLI::App& command, ReportArguments& arguments);

/// Returns the flags among the arguments that select kinds of tables and exclude each other: "--study", "--repeat".
[[nodiscard]] std::vector<std::string> table_kinds(const ReportArguments& arguments);

/// Results files, each read once. Paths are relative to a folder.
class ResultFiles {
 public:
  explicit ResultFiles(std::filesystem::path folder) : folder_{std::move(folder)} {}

  /// Returns the file's results together with the results of its journal, in which a killed run leaves its last
  /// records. A line on stderr says so.
  /// @throws  UsageError  as results::read_result_file
  const results::ResultFile& at(const std::string& path);
  /// Returns the results of all files, labelled by the files' names, or by their paths if two have the same name. After
  /// let_pass_over(), a file that cannot be read is named on stderr and skipped, if another file can be read.
  /// @throws  UsageError  as at(), for the first file
  std::vector<results::NamedResults> all(const std::vector<std::string>& paths);
  void let_pass_over() { may_pass_over_ = true; }
  /// Names on stderr what the output lacks: a file that was skipped, or every case of a study.
  void warn(const std::string& problem);
  [[nodiscard]] bool has_warned() const { return has_warned_; }
  [[nodiscard]] std::string path_of(const std::string& path) const { return (folder_ / path).string(); }

 private:
  std::filesystem::path folder_;
  std::map<std::string, results::ResultFile> files_;
  std::set<std::string> passed_over_;
  bool may_pass_over_{};
  bool has_warned_{};
};

/// Replaces the folders among `paths` by the results files in them and below them, by name. Lines on stderr name the
/// files that are not results.
/// @throws  UsageError  for a folder without results
[[nodiscard]] std::vector<std::string> without_folders(const std::vector<std::string>& paths);

/// Returns the tables as text, Markdown, CSV or LaTeX.
/// @throws  UsageError  naming the option, the value and the remedy
[[nodiscard]] std::string report_table(const ReportArguments& arguments, ResultFiles& files);

/// Writes the HTML page of -o.
/// @throws  as report_table
void write_report_page(const ReportArguments& arguments, ResultFiles& files);

}  // namespace tbench::tool

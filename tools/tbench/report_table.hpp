// What `tbench report` prints: the table that its command line asks for.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report_arguments.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {

/// Results files, each read once. Paths are relative to a folder.
class ResultFiles {
 public:
  explicit ResultFiles(std::filesystem::path folder) : folder_{std::move(folder)} {}

  /// The file's results with those of its journal: a killed run leaves its last records there. Says so on stderr.
  /// @throws  UsageError  as results::read_result_file
  const results::ResultFile& at(const std::string& path);
  /// Labelled by the files' names, by their paths where two have the same name.
  std::vector<results::NamedResults> all(const std::vector<std::string>& paths);
  [[nodiscard]] std::string path_of(const std::string& path) const { return (folder_ / path).string(); }

 private:
  std::filesystem::path folder_;
  std::map<std::string, results::ResultFile> files_;
};

/// The tables as text, Markdown, CSV or LaTeX.
/// @throws  UsageError  naming the option, the value and the remedy
[[nodiscard]] std::string report_table(const ReportArguments& arguments, ResultFiles& files);

/// Writes the HTML page of -o.
/// @throws  as report_table
void write_report_page(const ReportArguments& arguments, ResultFiles& files);

}  // namespace tbench::tool

// `tbench spreads`: writes the differences between two processes and between two machines to a file. `tbench diff` uses
// it to judge single files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "help/messages.hpp"
#include "help/outputs.hpp"
#include "tbench/compare/known_spreads.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/compare/spread_collector.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> results;
  std::string out;
  std::string add;
  std::string exclude;
};

/// Returns the results files in a folder and in the folders below it, by name.
std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && (path.ends_with(".json") || path.ends_with(".json.gz"))) files.push_back(path);
  }
  std::ranges::sort(files);
  return files;
}

/// Expands folders to the files in them; files stay as given.
std::vector<std::string> files_of(const Arguments& arguments) {
  const CaseFilter is_excluded{arguments.exclude, "--exclude"};
  std::vector<std::string> files;
  for (const std::string& path : arguments.results) {
    if (std::filesystem::is_directory(path)) {
      std::ranges::move(files_in(path), std::back_inserter(files));
    } else {
      files.push_back(path);
    }
  }
  if (!arguments.exclude.empty()) std::erase_if(files, is_excluded);
  return files;
}

/// Returns whether the arguments name a file. Such a file must have results; other files of a folder need not.
bool is_named(const Arguments& arguments, const std::string& path) {
  return std::ranges::find(arguments.results, path) != arguments.results.end();
}

void collect(compare::SpreadCollector& collector, const Arguments& arguments) {
  std::size_t cases = 0;
  for (const std::string& path : files_of(arguments)) {
    std::optional<compare::ComparisonSide> file;
    try {
      file = compare::read_side(path);
    } catch (const UsageError& error) {
      if (is_named(arguments, path)) throw;
      warn(fmt::format("left out: {}", error.what()));
      continue;
    }
    cases += collector.add(*file);
  }
  if (cases > 0) return;
  throw UsageError{
      fmt::format("'{}': no case whose spread can be known. Give results of a GPU with kernels of 10 us and more, CUDA "
                  "graphs, or steps that were traced (--tb_trace=on).",
                  arguments.results.front())};
}

/// Returns the samples that a file already has, to which others are added; empty if there is no such file yet.
std::vector<compare::SpreadSample> samples_of(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  compare::KnownSpreads known = compare::read_spreads(path);
  if (!known.samples.empty()) return std::move(known.samples);
  throw UsageError{fmt::format(
      "--add: '{}' does not hold the processes that it was made of. Give a file that --add made, or a new name.",
      path)};
}

void check(const Arguments& arguments) {
  if (arguments.out.empty() != arguments.add.empty()) return;
  throw UsageError{"-o FILE writes spreads, --add FILE adds to those of a file; give one of the two"};
}

void run(const Arguments& arguments) {
  check(arguments);
  const std::string& path = arguments.add.empty() ? arguments.out : arguments.add;
  check_output({.flag = arguments.add.empty() ? "-o" : "--add", .path = path, .endings = {".json"}}, arguments.results);
  compare::SpreadCollector collector{samples_of(arguments.add)};
  collect(collector, arguments);
  compare::KnownSpreads known = collector.spreads();
  known.excluded = arguments.exclude;
  if (!arguments.add.empty()) known.samples = collector.samples();
  write_output(arguments.add.empty() ? "-o" : "--add", path, results::pretty(compare::spreads_to_json(known)));
  fmt::print("{}", compare::spreads_table(known));
}

}  // namespace

void add_spreads(CLI::App& app) {
  CLI::App* command = app.add_subcommand("spreads",
                                         "Measure how much two processes, or two machines, differ on the same code; "
                                         "'tbench diff' uses this for single files");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("RESULTS", arguments->results, "Results files, or folders of them")->required();
  command->add_option("-o,--output", arguments->out, "The file to write")->type_name("FILE");
  command->add_option("--add", arguments->add, "Add RESULTS to the processes in this file, and rewrite it")
      ->type_name("FILE");
  command
      ->add_option("--exclude", arguments->exclude,
                   "Leave out files whose path matches this regular expression, such as those that measured something "
                   "else under the same names")
      ->type_name("REGEX");
  command->footer("Exit: 0; 2 usage or unreadable input.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

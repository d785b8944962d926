// `tbench durations`: writes the table of each case's duration on a GPU model, which runs use for planning.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "help/outputs.hpp"
#include "tbench/compare/durations.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/durations.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string cases;
  std::string out;
};

/// Returns the names in a file, one per line; empty if there is no file.
std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  if (path.empty()) return names;
  for (const std::string& line : split(results::read_text(path), '\n')) {
    if (!line.empty()) names.insert(line);
  }
  if (!names.empty()) return names;
  throw UsageError{fmt::format(
      "--cases: '{}' has no names. Give a list as 'transformer_bench --benchmark_list_tests' prints it.", path)};
}

void run(const Arguments& arguments) {
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.cases);
  check_output({.flag = "-o", .path = arguments.out, .endings = {".csv"}}, inputs);
  const std::set<std::string> only = names_in(arguments.cases);
  compare::DurationCollector collector;
  for (const std::string& path : arguments.files) collector.add({path, results::read_result_file(path)});
  const std::string table = collector.csv(only);
  if (arguments.out.empty()) {
    fmt::print("{}", table);
    return;
  }
  write_output("-o", arguments.out, table);
  const results::DurationTable written = results::DurationTable::parse(table, arguments.out);
  fmt::print("{}: {} cases of an {}, recorded by runs as {}\n", arguments.out, written.size(), written.gpu(),
             written.label());
}

}  // namespace

void add_durations(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "durations", "Write the table of case durations on a GPU model, from which transformer_bench plans a run");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->files, "Results of GPUs of one model, by any builds")->required();
  command
      ->add_option(
          "--cases", arguments->cases,
          "Keep only the cases named in this file, one per line, as 'transformer_bench --benchmark_list_tests' "
          "prints them")
      ->type_name("NAMES");
  command->add_option("-o,--output", arguments->out, "The file to write [default: standard output]")->type_name("OUT");
  command->footer("Exit: 0; 2 usage, unreadable input or GPUs of several models.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "profile_arguments.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  ProfileArguments show;
};

std::string page_of(const std::string& path, const ProfileArguments& show) {
  const profile::TraceFile file = profile::read_trace_file(path);
  std::string title = path;
  if (!file.facts.gpus.empty()) title += ": " + join(file.facts.gpus, ", ");
  return profile_page(show, analyse(show, file.trace), file.facts, title);
}

void run(const Arguments& arguments) {
  check_profile_options(arguments.show);
  if (arguments.show.json && arguments.paths.size() > 1) {
    throw UsageError{fmt::format("--json is of one trace, and {} are given; give one PATH", arguments.paths.size())};
  }
  std::string pages;
  for (const std::string& path : arguments.paths) {
    if (!pages.empty()) pages += "\n";
    pages += page_of(path, arguments.show);
  }
  fmt::print("{}", pages);
}

}  // namespace

void add_profile(CLI::App& app) {
  CLI::App* command = app.add_subcommand("profile", "Show the tables of traces");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("PATH", arguments->paths, "A folder that 'tbench nsys -o FOLDER' wrote, or its trace.json.gz")
      ->required();
  add_profile_options(*command, arguments->show);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

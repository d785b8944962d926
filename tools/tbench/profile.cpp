#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "profile_arguments.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/trace_file.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/shell_command.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  ProfileArguments show;
};

/// The path itself, or of a folder of profiles (--tb_profile's) each of them, by name.
std::vector<std::string> profiles_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error) || fs::exists(fs::path{path} / profile::kTraceFileName, error)) return {path};
  std::vector<std::string> found;
  for (auto entry = fs::directory_iterator{path, error}; !error && entry != fs::end(entry); entry.increment(error)) {
    if (fs::exists(entry->path() / profile::kTraceFileName)) found.push_back(entry->path().string());
  }
  std::ranges::sort(found);
  return found.empty() ? std::vector{path} : found;
}

std::string page_of(const std::string& path, const ProfileArguments& show) {
  const profile::TraceFile file = profile::read_trace_file(path);
  std::string title = file.facts.name.empty() ? path : file.facts.name;
  if (!file.facts.gpus.empty()) title += ": " + join(file.facts.gpus, ", ");
  return profile_page(show, analyse(show, file.trace), file.facts, title, {"profile", path});
}

void run(const Arguments& arguments) {
  check_profile_options(arguments.show);
  std::vector<std::string> paths;
  for (const std::string& path : arguments.paths) std::ranges::copy(profiles_at(path), std::back_inserter(paths));
  if (arguments.show.json && paths.size() > 1) {
    const std::vector<std::string> words{"tbench", "profile", "--json", paths.front()};
    throw results::CorrectableError{
        fmt::format("--json is of one trace, and {} are given; give one PATH, e.g. {}", paths.size(), paths.front()),
        results::command_line(words)};
  }
  std::string pages;
  for (const std::string& path : paths) {
    if (!pages.empty()) pages += "\n";
    pages += page_of(path, arguments.show);
  }
  fmt::print("{}", pages);
}

}  // namespace

void add_profile(CLI::App& app) {
  CLI::App* command = app.add_subcommand("profile", "Show the tables of traces");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("PATH", arguments->paths,
                   "A folder that --tb_profile or 'tbench nsys -o' wrote, one of its cases, or a trace.json.gz")
      ->required();
  add_profile_options(*command, arguments->show);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

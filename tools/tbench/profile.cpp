// `tbench profile`: prints the tables of traces, or writes an HTML page.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "help/outputs.hpp"
#include "profile_arguments.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/profile_files.hpp"
#include "tbench/profile/trace_file.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

struct ProfileCommandArguments {
  std::vector<std::string> paths;
  std::string html;  // path from -o
  ProfileArguments show;
};

/// Returns the path itself or, for a folder of profiles (as --tb_profile writes it), the profiles in it, by name.
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

std::string title_of(const std::string& path, const profile::TraceFacts& facts) {
  const std::string title = facts.name.empty() ? path : facts.name;
  return facts.gpus.empty() ? title : title + ": " + join(facts.gpus, ", ");
}

std::string page_of(const std::string& path, const ProfileArguments& show) {
  const profile::TraceFile file = profile::read_trace_file(path);
  return profile_page(show, analyse(show, file.trace), file.facts, title_of(path, file.facts), {"profile", path});
}

/// Returns the allocations next to a trace, or nullopt if the folder has none.
std::optional<MemoryTimeline> memory_beside(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::is_directory(path, error) ? fs::path{path} : fs::path{path}.parent_path();
  const fs::path file = folder / profile::kMemoryCsvName;
  if (!fs::exists(file, error)) return std::nullopt;
  const std::vector<profile::MemoryRow> rows =
      profile::read_memory_csv(results::read_text(file.string()), file.string());
  return profile::memory_timeline(rows);
}

void write_html(const std::string& path, const ProfileCommandArguments& arguments) {
  const std::vector<std::string> inputs{path, path + "/" + profile::kTraceFileName,
                                        path + "/" + profile::kMemoryCsvName};
  check_output({.flag = "-o",
                .path = arguments.html,
                .endings = {".html", ".htm"},
                .formats = {"--markdown", "--csv", "--latex", "--json"}},
               inputs);
  const profile::TraceFile file = profile::read_trace_file(path);
  const profile::Profile profile = analyse(arguments.show, file.trace);
  const profile::TableOptions options{.steps = arguments.show.steps.value_or(file.facts.steps),
                                      .top = arguments.show.top,
                                      .has_full_names = arguments.show.has_full_names};
  write_output(
      "-o", arguments.html,
      html::profile_html(profile_html_page(title_of(path, file.facts), profile, options, memory_beside(path))));
}

/// Checks that no option selects a format or tables if there is -o: the page has all tables, in one format.
void check_page_options(const ProfileCommandArguments& arguments) {
  const ProfileArguments& show = arguments.show;
  if (arguments.html.empty()) return;
  if (show.markdown || show.csv || show.latex || show.json || !show.tables.empty()) {
    throw UsageError{
        "-o writes an HTML page with all tables; leave out --table, --markdown, --csv, --latex and --json"};
  }
}

void run_profile(const ProfileCommandArguments& arguments) {
  check_profile_options(arguments.show);
  check_page_options(arguments);
  std::vector<std::string> paths;
  for (const std::string& path : arguments.paths) std::ranges::copy(profiles_at(path), std::back_inserter(paths));
  const bool has_page = !arguments.html.empty();
  if ((arguments.show.json || has_page) && paths.size() > 1) {
    const char* const flag = has_page ? "-o" : "--json";
    std::vector<std::string> words{"tbench", "profile", flag};
    if (has_page) words.push_back(arguments.html);
    words.push_back(paths.front());
    throw results::CorrectableError{
        fmt::format("{} takes one trace, and {} are given; give one PATH, e.g. {}", flag, paths.size(), paths.front()),
        results::command_line(words)};
  }
  if (has_page) return write_html(paths.front(), arguments);
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
  const auto arguments = std::make_shared<ProfileCommandArguments>();
  command
      ->add_option("PATH", arguments->paths,
                   "A folder that --tb_profile or 'tbench nsys -o' wrote, one of its cases, or a trace.json.gz")
      ->required();
  command
      ->add_option("-o,--output", arguments->html,
                   "Write a self-contained HTML page: flame graph, memory over a step (from memory.csv next to the "
                   "trace) and all tables")
      ->type_name("FILE.html");
  add_profile_options(*command, arguments->show);
  command->callback([arguments] { run_profile(*arguments); });
}

}  // namespace tbench::tool

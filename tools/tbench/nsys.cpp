// `tbench nsys`: prints the tables of exports of Nsight Systems, and writes their profiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "help/messages.hpp"
#include "help/outputs.hpp"
#include "profile_arguments.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/nsys_export.hpp"
#include "tbench/profile/profile_files.hpp"
#include "tbench/profile/range_names.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::tool {
namespace {

struct NsysArguments {
  std::vector<std::string> files;
  std::string folder;  // path from -o
  std::vector<std::string> maps;
  ProfileArguments show;
};

/// Returns the name of the input: file, GPUs and version of the schema.
std::string title_of(const std::string& file, const profile::NsysExport& read) {
  std::string title = file;
  if (!read.gpus.empty()) title += ": " + join(read.gpus, ", ");
  if (!read.schema_version.empty()) title += fmt::format(", nsys schema {}", read.schema_version);
  return title;
}

void warn(const std::string& file, const profile::NsysExport& read) {
  if (!read.is_known_schema) {
    note(fmt::format("'{}': schema {} is newer than what this program knows; check the figures against 'nsys stats'",
                     file, read.schema_version));
  }
  if (read.dropped_rows > 0) {
    note(fmt::format("'{}': {} rows make no sense (they end before they begin, say) and are left out", file,
                     read.dropped_rows));
  }
  if (!read.newer_report.empty()) {
    note(fmt::format("'{}' is older than {}: if that is of another run, export it again", file, read.newer_report));
  }
}

/// Returns the output folder of an export. If there are several exports, each has a folder in the folder of -o, with
/// the name of its file.
std::string folder_of(const NsysArguments& arguments, const std::string& file) {
  if (arguments.folder.empty() || arguments.files.size() == 1) return arguments.folder;
  return (std::filesystem::path{arguments.folder} / std::filesystem::path{file}.stem()).string();
}

/// Returns the page of one export.
std::string page_of(const NsysArguments& arguments, const std::vector<profile::RangeRename>& renames,
                    const std::string& file) {
  profile::NsysExport read = profile::read_nsys_export(file);
  if (!renames.empty()) profile::rename_ranges(read.trace, renames);
  const profile::TraceFacts facts{.steps = arguments.show.steps.value_or(1), .gpus = read.gpus};
  const profile::Profile profile = analyse(arguments.show, read.trace);
  std::vector<std::string> source{"nsys", file};
  for (const std::string& map : arguments.maps) source.push_back("--map=" + map);
  std::string page = profile_page(arguments.show, profile, facts, title_of(file, read), source);
  const std::string folder = folder_of(arguments, file);
  if (!folder.empty()) profile::write_profile_files(folder, read.trace, facts, profile);
  warn(file, read);
  return page;
}

void check_files(const NsysArguments& arguments) {
  check_folder_name({.flag = "-o", .path = arguments.folder, .formats = {"--markdown", "--csv", "--latex", "--json"}});
  const std::vector<std::string>& files = arguments.files;
  if (arguments.show.json && files.size() > 1) {
    const std::vector<std::string> words{"tbench", "nsys", "--json", files.front()};
    throw results::CorrectableError{
        fmt::format("--json takes one export, and {} are given; give one FILE, e.g. {}", files.size(), files.front()),
        results::command_line(words)};
  }
  if (arguments.folder.empty()) return;
  std::vector<std::string> folders;
  for (const std::string& file : files) folders.push_back(folder_of(arguments, file));
  std::ranges::sort(folders);
  const auto twice = std::ranges::adjacent_find(folders);
  if (twice == folders.end()) return;
  throw UsageError{fmt::format("-o {}: two exports would go to '{}'. Rename one, or give one FILE per call.",
                               arguments.folder, *twice)};
}

/// Shows all exports. An export that cannot be shown does not prevent the others from being shown.
void run_nsys(const NsysArguments& arguments, int& exit_status) {
  check_profile_options(arguments.show);
  check_files(arguments);
  std::vector<profile::RangeRename> renames;
  for (const std::string& map : arguments.maps) renames.push_back(profile::parse_range_rename(map));
  if (arguments.files.size() == 1) {
    fmt::print("{}", page_of(arguments, renames, arguments.files.front()));
    return;
  }
  bool is_first = true;
  for (const std::string& file : arguments.files) {
    try {
      const std::string page = page_of(arguments, renames, file);
      fmt::print("{}{}", is_first ? "" : "\n", page);
      is_first = false;
    } catch (const UsageError& error) {
      say(fmt::format("tbench: {}", error.what()));
      exit_status = kExitFailedCase;
    }
  }
  if (is_first) exit_status = kExitUsage;
}

}  // namespace

void add_nsys(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("nsys", "Show the tables of Nsight Systems exports");
  const auto arguments = std::make_shared<NsysArguments>();
  command
      ->add_option(
          "FILE", arguments->files,
          "Exports from 'nsys export --type=sqlite'. Each gets its own page. A file that cannot be read is named "
          "and skipped (exit status 1)")
      ->required();
  command
      ->add_option(
          "-o", arguments->folder,
          "Also write trace.json.gz (for Perfetto and 'tbench profile'), kernels.csv, ranges.csv, api.csv, "
          "folded.txt (for flame graphs) and summary.json to this folder; with several exports, to one subfolder "
          "each")
      ->type_name("FOLDER");
  command
      ->add_option("--map", arguments->maps,
                   "Rename another program's ranges to the names that phases and tables use (repeatable): --map "
                   "'train/fwd=FORWARD'. One '*' stands for any text, also in OURS: --map 'h.*.attn=attention', --map "
                   "'block *=layer.*'. The first pattern that matches a range applies")
      ->allow_extra_args(false)
      ->type_name("THEIRS=OURS");
  add_profile_options(*command, arguments->show);
  command->callback([arguments, &exit_status] { run_nsys(*arguments, exit_status); });
}

}  // namespace tbench::tool

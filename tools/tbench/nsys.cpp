#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "profile_arguments.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/nsys_export.hpp"
#include "tbench/profile/profile_files.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::string file;
  std::string folder;  // of -o
  ProfileArguments show;
};

/// What was read.
std::string title_of(const Arguments& arguments, const profile::NsysExport& read) {
  std::string title = arguments.file;
  if (!read.gpus.empty()) title += ": " + join(read.gpus, ", ");
  if (!read.schema_version.empty()) title += fmt::format(", nsys schema {}", read.schema_version);
  return title;
}

void warn(const profile::NsysExport& read) {
  if (!read.is_known_schema) {
    fmt::print(stderr,
               "note: schema {} is newer than what this program knows; check the figures against 'nsys stats'\n",
               read.schema_version);
  }
  if (read.dropped_rows > 0) {
    fmt::print(stderr, "note: {} rows make no sense (they end before they begin, say) and are left out\n",
               read.dropped_rows);
  }
}

void run(const Arguments& arguments) {
  check_profile_options(arguments.show);
  const profile::NsysExport read = profile::read_nsys_export(arguments.file);
  const profile::TraceFacts facts{.steps = arguments.show.steps.value_or(1), .gpus = read.gpus};
  const profile::Profile profile = analyse(arguments.show, read.trace);
  const std::string page =
      profile_page(arguments.show, profile, facts, title_of(arguments, read), {"nsys", arguments.file});
  if (!arguments.folder.empty()) profile::write_profile_files(arguments.folder, read.trace, facts, profile);
  warn(read);
  fmt::print("{}", page);
}

}  // namespace

void add_nsys(CLI::App& app) {
  CLI::App* command = app.add_subcommand("nsys", "Show the tables of an Nsight Systems export");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "The file that 'nsys export --type=sqlite' wrote")->required();
  command
      ->add_option("-o", arguments->folder,
                   "Also write trace.json.gz (for Perfetto and 'tbench profile'), kernels.csv, ranges.csv, api.csv, "
                   "folded.txt (for flame graphs) and summary.json to this folder")
      ->type_name("FOLDER");
  add_profile_options(*command, arguments->show);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

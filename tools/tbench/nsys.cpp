#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/nsys_export.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::string file;
  std::string rules;
  profile::ProfileOptions profile;
  profile::TableOptions options;
  std::vector<std::string> tables;
  bool markdown{};
  bool csv{};
  bool latex{};
  bool json{};
};

profile::PageFormat format_of(const Arguments& arguments) {
  if (arguments.markdown + arguments.csv + arguments.latex + arguments.json > 1) {
    throw UsageError{"--markdown, --csv, --latex and --json exclude each other; give one"};
  }
  if (arguments.json && !arguments.tables.empty()) throw UsageError{"--json has every table; leave out --table"};
  if (arguments.markdown) return profile::PageFormat::kMarkdown;
  if (arguments.csv) return profile::PageFormat::kCsv;
  if (arguments.latex) return profile::PageFormat::kLatex;
  return profile::PageFormat::kText;
}

/// What was read.
std::vector<std::string> heading_of(const Arguments& arguments, const profile::NsysExport& read) {
  std::string text = arguments.file;
  if (!read.gpus.empty()) text += ": " + join(read.gpus, ", ");
  if (!read.schema_version.empty()) text += fmt::format(", nsys schema {}", read.schema_version);
  std::vector<std::string> heading{text};
  if (arguments.options.steps > 1) {
    heading.push_back(fmt::format("{} steps: counts and totals are per step", arguments.options.steps));
  }
  return heading;
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
  const profile::PageFormat format = format_of(arguments);
  const profile::KernelRules own =
      arguments.rules.empty() ? profile::KernelRules{} : profile::KernelRules::read(arguments.rules);
  const profile::KernelRules& rules = arguments.rules.empty() ? profile::KernelRules::built_in() : own;
  const profile::NsysExport read = profile::read_nsys_export(arguments.file);
  const profile::Profile profile = profile::analyse(read.trace, rules, arguments.profile);
  const std::string page = arguments.json
                               ? profile::profile_json(profile, arguments.options.steps)
                               : profile::profile_page(profile, arguments.options, format, heading_of(arguments, read),
                                                       arguments.tables, render::terminal_width(STDOUT_FILENO));
  warn(read);
  fmt::print("{}", page);
}

}  // namespace

void add_nsys(CLI::App& app) {
  CLI::App* command = app.add_subcommand("nsys", "Show the tables of an export of Nsight Systems");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "What 'nsys export --type=sqlite' wrote")->required();
  command
      ->add_option("--steps", arguments->options.steps,
                   "Steps that were captured: counts and totals become those of one")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->type_name("N");
  command
      ->add_option(
          "--phase", arguments->profile.phases,
          "A range that is a phase (repeatable); else FORWARD, BACKWARD and OPTIMIZER, or the outermost ranges")
      ->allow_extra_args(false)
      ->type_name("RANGE");
  command->add_option("--top", arguments->options.top, "Kernels to list of each phase")
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--full-names", arguments->options.has_full_names,
                    "Kernels with their template arguments and parameters");
  command
      ->add_option("--table", arguments->tables,
                   fmt::format("Only this table (repeatable): {}", fmt::join(profile::profile_table_names(), ", ")))
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_option("--rules", arguments->rules, "Rules for the classes of kernels, as 'tbench classify' takes them")
      ->type_name("FILE");
  command->add_flag("--markdown", arguments->markdown, "Tables for a Markdown file");
  command->add_flag("--csv", arguments->csv, "For a spreadsheet");
  command->add_flag("--latex", arguments->latex, "For a paper");
  command->add_flag("--json", arguments->json, "For programs: everything, in seconds, of the whole capture");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace tbench::tool

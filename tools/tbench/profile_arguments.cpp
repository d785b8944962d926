#include "profile_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <utility>

#include "help/numbers.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/flame_graph.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::tool {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;

profile::PageFormat format_of(const ProfileArguments& arguments) {
  if (arguments.markdown) return profile::PageFormat::kMarkdown;
  if (arguments.csv) return profile::PageFormat::kCsv;
  if (arguments.latex) return profile::PageFormat::kLatex;
  return profile::PageFormat::kText;
}

constexpr double kNsPerMs = 1e6;

html::TimePart part_of(const profile::FlameFrame& frame, double steps) {
  const auto level = [&]() -> std::size_t {
    switch (frame.kind) {
      case profile::FlameKind::kRange:
        return 0;
      case profile::FlameKind::kClass:
        return 1;
      case profile::FlameKind::kKernel:
        return 2;
    }
    return 0;
  };
  return {.name = frame.name,
          .level = level(),
          .parent = frame.parent,
          .milliseconds = static_cast<double>(frame.total_ns) / kNsPerMs / steps,
          .operations = static_cast<double>(frame.operations) / steps};
}

}  // namespace

void add_profile_options(CLI::App& command, ProfileArguments& arguments) {
  command.add_option("--steps", arguments.steps, "Number of captured steps; counts and totals are then per step")
      ->check(count_of(1, kMaxSteps))
      ->type_name("N");
  command
      .add_option("--phase", arguments.profile.phases,
                  "Treat this range as a phase (repeatable) [default: FORWARD, BACKWARD and OPTIMIZER, or else the "
                  "outermost ranges]")
      ->allow_extra_args(false)
      ->type_name("RANGE");
  command.add_option("--top", arguments.top, "Kernels to list per phase")
      ->capture_default_str()
      ->type_name("N")
      ->check(count_of(1));
  command.add_flag("--full-names", arguments.has_full_names,
                   "Show kernels with their template arguments and parameters");
  command
      .add_option("--table", arguments.tables,
                  fmt::format("Show only this table (repeatable): {}", fmt::join(profile::profile_table_names(), ", ")))
      ->allow_extra_args(false)
      ->type_name("NAME");
  command.add_option("--rules", arguments.rules, "Rules for the classes of kernels, as for 'tbench classify'")
      ->type_name("FILE");
  command.add_flag("--markdown", arguments.markdown, "Print Markdown tables");
  command.add_flag("--csv", arguments.csv, "Print CSV, for a spreadsheet");
  command.add_flag("--latex", arguments.latex, "Print LaTeX, for a paper");
  command.add_flag("--json", arguments.json, "Print JSON with all data, for programs: seconds, over the whole capture");
}

void check_profile_options(const ProfileArguments& arguments) {
  if (arguments.markdown + arguments.csv + arguments.latex + arguments.json > 1) {
    throw UsageError{"--markdown, --csv, --latex and --json exclude each other; give one"};
  }
  if (arguments.json && !arguments.tables.empty()) throw UsageError{"--json has every table; leave out --table"};
}

profile::Profile analyse(const ProfileArguments& arguments, const profile::Trace& trace) {
  if (arguments.rules.empty()) return profile::analyse(trace, profile::KernelRules::built_in(), arguments.profile);
  return profile::analyse(trace, profile::KernelRules::read(arguments.rules), arguments.profile);
}

std::string profile_page(const ProfileArguments& arguments, const profile::Profile& profile,
                         const profile::TraceFacts& facts, const std::string& title,
                         const std::vector<std::string>& source) {
  const std::int64_t steps = arguments.steps.value_or(facts.steps);
  if (arguments.json) return profile::profile_json(profile, steps, "tbench " + results::command_line(source));
  std::vector<std::string> heading{title};
  if (steps > 1) heading.push_back(fmt::format("{} steps: counts and totals are per step", steps));
  return profile::profile_page(profile,
                               {.steps = steps, .top = arguments.top, .has_full_names = arguments.has_full_names},
                               format_of(arguments), heading, arguments.tables, render::console_width(STDOUT_FILENO));
}

html::ProfilePage profile_html_page(std::string title, const profile::Profile& profile,
                                    const profile::TableOptions& options, const std::optional<MemoryTimeline>& memory) {
  html::ProfilePage page{.title = std::move(title), .notes = {}, .times = {}, .memory = {}, .tables = {}};
  if (options.steps > 1) page.notes.push_back(fmt::format("{} steps: counts and totals are per step", options.steps));
  for (std::string& note : profile::profile_notes(profile)) page.notes.push_back(std::move(note));
  for (const profile::FlameFrame& frame : profile::flame_frames(profile))
    page.times.push_back(part_of(frame, static_cast<double>(options.steps)));
  if (memory && memory->events.size() > 1) page.memory = *memory;
  for (profile::ProfileTable& table : profile::profile_tables(profile, options))
    page.tables.push_back({.caption = std::move(table.caption), .table = std::move(table.table)});
  return page;
}

}  // namespace tbench::tool

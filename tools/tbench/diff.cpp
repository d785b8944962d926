// `tbench diff`: compares two builds, or two GPUs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "diff.hpp"
#include "help/messages.hpp"
#include "help/outputs.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/gate/gate.hpp"
#include "tbench/history/history.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

/// Completes the short form: `diff A B` stands for `diff A --to B`.
void complete(DiffArguments& arguments) {
  if (!arguments.next.empty()) return;
  if (arguments.base.size() != 2) {
    std::vector<std::string> example = arguments.base;
    if (example.size() == 1) example.emplace_back("NEW");
    example.insert(example.begin() + static_cast<std::ptrdiff_t>(example.size() / 2), "--to");
    throw UsageError{fmt::format("{} and no --to: put it before the new ones, e.g. {}",
                                 counted_in(arguments.base, "file"), join(example, " "))};
  }
  arguments.next.push_back(std::move(arguments.base.back()));
  arguments.base.pop_back();
}

compare::CaseOrder order_of(const std::string& sort) {
  if (sort.empty()) return compare::CaseOrder::kFile;
  static const std::vector<std::string> kNames{"name", "change", "p"};
  static constexpr std::array kOrders{compare::CaseOrder::kName, compare::CaseOrder::kChange, compare::CaseOrder::kP};
  const auto found = std::ranges::find(kNames, sort);
  if (found != kNames.end()) return kOrders.at(static_cast<std::size_t>(found - kNames.begin()));
  throw UsageError{with_suggestion(fmt::format("--sort: unknown value '{}'", sort), sort, kNames, "values")};
}

void check(const DiffArguments& arguments) {
  if (arguments.markdown + arguments.json + arguments.csv > 1) {
    throw UsageError{"--markdown, --json and --csv exclude each other; give one"};
  }
  static_cast<void>(order_of(arguments.sort));
}

/// Returns each case's dispersion between processes from the history, for the machine and the libraries of the base.
std::map<std::string, stats::DispersionPrior> known_dispersion(const std::string& db,
                                                               const compare::ComparisonSide& base) {
  if (db.empty()) return {};
  const history::History history = history::History::open_copy(db);
  if (base.environments.empty()) return {};
  const Environment& environment = base.environments.front();
  const std::string epoch = history::epoch_of(environment);
  const auto past = history.past(history::fingerprint_of(environment), epoch, {}, gate::kTrendRuns);
  std::map<std::string, stats::DispersionPrior> dispersions = gate::known_dispersions(past, epoch);
  if (dispersions.empty())
    warn("--db: the history has too few runs of this machine with these libraries to tell how much processes differ");
  return dispersions;
}

/// Returns the built-in spreads, with the spreads of a file in their place if it has them.
compare::KnownSpreads known_spreads(const std::string& path) {
  compare::KnownSpreads spreads = compare::built_in_spreads();
  if (!path.empty()) spreads.put_over(compare::read_spreads(path));
  return spreads;
}

/// Checks that no file is on both sides.
/// @throws  UsageError  naming the file
void check_sides(const DiffArguments& arguments, const std::filesystem::path& folder) {
  for (const std::string& base : arguments.base) {
    for (const std::string& next : arguments.next) {
      std::error_code missing;
      if (!std::filesystem::equivalent(folder / base, folder / next, missing)) continue;
      throw UsageError{fmt::format("'{}' is both base and new; give two different files", base)};
    }
  }
}

compare::Comparison compare(const DiffArguments& arguments, const std::filesystem::path& folder = {}) {
  std::vector<std::string> paths = arguments.base;
  paths.insert(paths.end(), arguments.next.begin(), arguments.next.end());
  std::vector<compare::ComparisonSide> runs = compare::read_sides(paths, folder);
  check_sides(arguments, folder);
  compare::refuse_copies(runs);
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(arguments.base.size());
  std::vector<compare::ComparisonSide> next{std::make_move_iterator(middle), std::make_move_iterator(runs.end())};
  runs.erase(middle, runs.end());
  compare::CompareOptions options = arguments.options;
  if (arguments.cross) options.cross = true;
  constexpr double kPercent = 100;
  if (arguments.tau_percent) options.tau = *arguments.tau_percent / kPercent;
  const compare::ComparisonSide base = compare::merged(std::move(runs));
  options.known_dispersion = known_dispersion(arguments.db, base);
  const compare::KnownSpreads spreads = known_spreads(arguments.spreads);
  options.spreads = &spreads;
  compare::Comparison comparison = compare::compare(base, compare::merged(std::move(next)), options);
  compare::sort_cases(comparison, order_of(arguments.sort));
  return comparison;
}

std::string text_of(const compare::Comparison& comparison, const DiffArguments& arguments) {
  if (arguments.json) return results::pretty(compare::comparison_to_json(comparison, arguments.strict));
  if (arguments.csv) return compare::comparison_to_csv(comparison);
  if (arguments.markdown) return compare::comparison_markdown(comparison);
  return compare::comparison_console(comparison, {.colour = ::isatty(STDOUT_FILENO) == 1,
                                                  .all = arguments.all,
                                                  .is_sorted = !arguments.sort.empty(),
                                                  .width = render::console_width(STDOUT_FILENO)});
}

void check_report(const DiffArguments& arguments) {
  std::vector<std::string> inputs = arguments.base;
  inputs.insert(inputs.end(), arguments.next.begin(), arguments.next.end());
  inputs.insert(inputs.end(), {arguments.db, arguments.spreads});
  check_output({.flag = "--junit", .path = arguments.junit, .endings = {".xml"}}, inputs);
}

int run(DiffArguments arguments) {
  complete(arguments);
  check(arguments);
  check_report(arguments);
  const compare::Comparison comparison = compare(arguments);
  for (const std::string& warning : comparison.warnings) warn(warning);
  if (!arguments.junit.empty()) {
    write_output("--junit", arguments.junit, compare::comparison_to_junit(comparison, arguments.strict));
  }
  fmt::print("{}", text_of(comparison, arguments));
  return compare::exit_status(comparison, arguments.strict);
}

void declare_output_options(CLI::App& command, DiffArguments& arguments) {
  command.add_flag("--markdown", arguments.markdown, "Print Markdown, for a pull request");
  command.add_flag("--all", arguments.all, "Show every case with its full name, at any width");
  command.add_flag("--json", arguments.json, "Print JSON with all data, for programs");
  command.add_flag("--csv", arguments.csv, "Print CSV, for a spreadsheet");
  command.add_option("--junit", arguments.junit, "Also write a JUnit report with one test per case")->type_name("FILE");
}

}  // namespace

void declare_comparison_options(CLI::App& command, DiffArguments& arguments) {
  command
      .add_option(
          "BASE", arguments.base,
          "Results of the base, one file per process; without --to, give two files: the base and the new results")
      ->required();
  command.add_option("--to", arguments.next, "New results, one file per process")->type_name("NEW");
  add_tau_option(command, arguments.tau_percent);
  command.add_flag("--cross", arguments.cross, "Print ratios without verdicts, as between different GPUs");
  command.add_flag("--force", arguments.options.force, "Compare even if clock policy, work or devices differ");
  command.add_flag(
      "--strict", arguments.strict,
      "Exit with 4 if a case is LIKELY_SLOWER, UNDECIDED, NOT_JUDGED, CLOCK or HOST; but not for ceilings that "
      "are NOT_JUDGED, and not for cases that no side can run (unsupported or oom on both)");
  command
      .add_option(
          "--db", arguments.db,
          "History of 'tbench gate'. It shows how much each case varies between processes of one build, so that "
          "a few replicates detect smaller changes")
      ->type_name("FILE");
  command
      .add_option("--spreads", arguments.spreads,
                  "Spreads measured on your machines by 'tbench spreads'; they replace the built-in ones")
      ->type_name("FILE");
  command.add_option("--filter", arguments.options.filter, "Use only cases whose name matches this regular expression")
      ->type_name("REGEX");
  command
      .add_option("--sort", arguments.sort,
                  "Order of the cases: name, change (slowdowns first) or p [default: as in the file]")
      ->type_name("name|change|p");
}

std::string comparison_markdown(DiffArguments arguments, const std::filesystem::path& folder) {
  arguments.markdown = true;
  complete(arguments);
  check(arguments);
  return text_of(compare(arguments, folder), arguments);
}

void add_diff(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("diff", "Compare two builds, or two GPUs, case by case");
  const auto arguments = std::make_shared<DiffArguments>();
  declare_comparison_options(*command, *arguments);
  declare_output_options(*command, *arguments);
  command->footer(
      "Exit: 0 nothing regressed; 1 something did, for a time by at least three processes per side "
      "(transformer_bench --tb_processes=3); 2 usage or unreadable input; 3 not comparable; 4 see --strict.");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tbench::tool

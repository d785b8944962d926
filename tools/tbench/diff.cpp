#include "diff.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/comparison.hpp"
#include "tbench/report/comparison_export.hpp"
#include "tbench/report/comparison_input.hpp"
#include "tbench/report/comparison_page.hpp"
#include "tbench/report/durable_file.hpp"
#include "tbench/report/gate.hpp"
#include "tbench/report/history.hpp"
#include "tbench/report/progress_line.hpp"
#include "tbench/report/result_json.hpp"
#include "tbench/report/text_width.hpp"

namespace tbench::tool {
namespace {

struct Arguments {
  std::vector<std::string> base;
  std::vector<std::string> next;
  report::CompareOptions options;
  std::string db;
  std::optional<double> tau_percent;
  bool cross{};
  bool strict{};
  std::string sort;
  bool markdown{};
  bool json{};
  bool csv{};
  std::string junit;
};

/// `diff A B` is `diff A --to B`.
void complete(Arguments& arguments) {
  if (!arguments.next.empty()) return;
  if (arguments.base.size() != 2) {
    throw UsageError{fmt::format("{} file{} and no --to: give two files, or several as BASE... --to NEW...",
                                 arguments.base.size(), arguments.base.size() == 1 ? "" : "s")};
  }
  arguments.next.push_back(std::move(arguments.base.back()));
  arguments.base.pop_back();
}

report::CaseOrder order_of(const std::string& sort) {
  if (sort.empty()) return report::CaseOrder::kFile;
  static const std::vector<std::string> kNames{"name", "change", "p"};
  static constexpr std::array kOrders{report::CaseOrder::kName, report::CaseOrder::kChange, report::CaseOrder::kP};
  const auto found = std::ranges::find(kNames, sort);
  if (found != kNames.end()) return kOrders.at(static_cast<std::size_t>(found - kNames.begin()));
  throw UsageError{
      fmt::format("--sort: unknown value '{}'{} (values: {})", sort, did_you_mean(sort, kNames), join(kNames, ", "))};
}

void check(const Arguments& arguments) {
  if (arguments.markdown + arguments.json + arguments.csv > 1) {
    throw UsageError{"--markdown, --json and --csv exclude each other; give one"};
  }
  static_cast<void>(order_of(arguments.sort));
  if (arguments.tau_percent && !(*arguments.tau_percent > 0 && *arguments.tau_percent < 100)) {
    throw UsageError{
        fmt::format("--tau: {} is no threshold; give percent, above 0 and below 100", *arguments.tau_percent)};
  }
}

/// What the history knows of each case's spread between processes, on the machine and with the libraries of the base.
std::map<std::string, double> known_spread(const std::string& db, const report::ComparisonSide& base) {
  if (db.empty()) return {};
  const report::History history = report::History::open_copy(db);
  if (base.environments.empty()) return {};
  const Environment& environment = base.environments.front();
  const std::string epoch = report::epoch_of(environment);
  const auto past = history.past(report::fingerprint_of(environment), epoch, {}, report::kTrendNights);
  std::map<std::string, double> spreads = report::known_spreads(past, epoch);
  if (spreads.empty())
    fmt::print(stderr, "warning: --db: the history knows no spreads of this machine and its libraries\n");
  return spreads;
}

report::Comparison compare(const Arguments& arguments) {
  std::vector<std::string> paths = arguments.base;
  paths.insert(paths.end(), arguments.next.begin(), arguments.next.end());
  std::vector<report::ComparedRun> runs = report::read_compared_runs(paths);
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(arguments.base.size());
  std::vector<report::ComparedRun> next{std::make_move_iterator(middle), std::make_move_iterator(runs.end())};
  runs.erase(middle, runs.end());
  report::CompareOptions options = arguments.options;
  if (arguments.cross) options.cross = true;
  constexpr double kPercent = 100;
  if (arguments.tau_percent) options.tau = *arguments.tau_percent / kPercent;
  const report::ComparisonSide base = report::side_of(std::move(runs));
  options.known_spread = known_spread(arguments.db, base);
  report::Comparison comparison = report::compare(base, report::side_of(std::move(next)), options);
  report::sort_cases(comparison, order_of(arguments.sort));
  return comparison;
}

std::string text_of(const report::Comparison& comparison, const Arguments& arguments) {
  if (arguments.json) return report::pretty(report::comparison_to_json(comparison, arguments.strict));
  if (arguments.csv) return report::comparison_to_csv(comparison);
  const std::optional<std::size_t> width = report::terminal_width(STDOUT_FILENO);
  return report::comparison_page(
      comparison, {.markdown = arguments.markdown, .colour = ::isatty(STDOUT_FILENO) == 1, .max_width = width});
}

int run(Arguments arguments) {
  complete(arguments);
  check(arguments);
  try {
    const report::Comparison comparison = compare(arguments);
    for (const std::string& warning : comparison.warnings) {
      fmt::print(stderr, "warning: {}\n", report::one_line(warning));
    }
    if (!arguments.junit.empty()) {
      report::write_atomically(arguments.junit, report::comparison_to_junit(comparison, arguments.strict));
    }
    fmt::print("{}", text_of(comparison, arguments));
    return report::exit_status(comparison, arguments.strict);
  } catch (const report::NotComparable& error) {
    fmt::print(stderr, "tbench: not comparable: {}\n", report::one_line(error.what()));
    return report::kExitNotComparable;
  }
}

void add_output_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--filter", arguments.options.filter, "Only cases whose name matches this regular expression")
      ->type_name("REGEX");
  command
      .add_option("--sort", arguments.sort, "Order of the cases: name, change (slowdowns first) or p; else the file's")
      ->type_name("name|change|p");
  command.add_flag("--markdown", arguments.markdown, "For a pull request");
  command.add_flag("--json", arguments.json, "For programs, in full");
  command.add_flag("--csv", arguments.csv, "For a spreadsheet");
  command.add_option("--junit", arguments.junit, "Also write a JUnit report, a test a case")->type_name("FILE");
}

}  // namespace

void add_diff(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("diff", "Compare two builds, or two GPUs, case by case");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("BASE", arguments->base,
                   "Results of the base, a file a process; without --to, the base's and the new file")
      ->required();
  command->add_option("--to", arguments->next, "Results of what is new, a file a process")->type_name("NEW");
  command
      ->add_option("--tau", arguments->tau_percent,
                   "Least change that matters, in percent (else 2 for model steps, 3, and 5 below 100 us)")
      ->type_name("PERCENT");
  command->add_flag("--cross", arguments->cross, "Ratios without verdicts, as between different GPUs");
  command->add_flag("--force", arguments->options.force, "Compare although clock policy, work or devices differ");
  command->add_flag("--strict", arguments->strict, "Exit with 4 where a case is ambiguous or has too few replicates");
  command
      ->add_option("--db", arguments->db,
                   "History of 'tbench gate': how much each case differs between processes of one build, so that few "
                   "replicates find more")
      ->type_name("FILE");
  add_output_options(*command, *arguments);
  command->footer(
      "Exit: 0 nothing regressed; 1 something did; 2 usage or unreadable input; 3 not comparable; 4 see --strict.");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tbench::tool

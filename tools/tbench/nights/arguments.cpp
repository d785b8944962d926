#include "nights/arguments.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "help/numbers.hpp"
#include "help/outputs.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::tool {
namespace {

void check_combination(const GateArguments& arguments) {
  if (arguments.markdown && arguments.json) throw UsageError{"--markdown and --json exclude each other; give one"};
  if (arguments.null_a.empty() != arguments.null_b.empty()) {
    throw UsageError{"--null-a and --null-b belong together: the same build under two labels; give both or neither"};
  }
  const bool has_kept = !arguments.good.empty() || !arguments.pinned.empty();
  if (has_kept && arguments.next.empty()) {
    throw UsageError{"--good and --pinned need --new: the command that runs the build that was measured"};
  }
  if (!has_kept && !arguments.next.empty()) {
    throw UsageError{"--new needs --good or --pinned: a kept build to run the suspects against"};
  }
  if (arguments.partial && arguments.changes.any()) {
    throw UsageError{"--partial records nothing, not even --retire and --renamed; give one or the other"};
  }
}

void check_outputs(const GateArguments& arguments) {
  std::vector<std::string> inputs = arguments.files;
  for (const std::vector<std::string>* files : {&arguments.null_a, &arguments.null_b}) {
    inputs.insert(inputs.end(), files->begin(), files->end());
  }
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (!std::filesystem::equivalent(std::filesystem::path{input}.parent_path(), arguments.confirm_folder, missing)) {
      continue;
    }
    throw UsageError{fmt::format("--confirm-dir: '{}', an input, is in '{}'. Give another folder.", input,
                                 arguments.confirm_folder)};
  }
  inputs.push_back(arguments.db);
  check_output({.flag = "--junit", .path = arguments.junit, .endings = {".xml"}}, inputs);
}

/// Checks that no history is given as results of a run.
/// @throws  UsageError  naming the history, and the results if they are given as the history
void check_files(const GateArguments& arguments) {
  for (const std::string& path : arguments.files) {
    if (!is_database(path)) continue;
    std::vector<std::string> others = arguments.files;
    std::erase(others, path);
    if (measurements_in(arguments.db) == "results") others.push_back(arguments.db);
    throw UsageError{fmt::format("'{}' is a history; did you mean 'tbench gate {} --db={}'?", path,
                                 others.empty() ? "RUN" : join(others, " "), path)};
  }
}

void add_confirmation_options(CLI::App& command, GateArguments& arguments) {
  const std::string group = "Running suspects again";
  command
      .add_option("--new", arguments.next, "Command that runs the build that was measured, e.g. './transformer_bench'")
      ->type_name("COMMAND")
      ->group(group);
  command
      .add_option("--good", arguments.good,
                  "Command that runs the last good build: suspected regressions are run again with both builds in turn")
      ->type_name("COMMAND")
      ->group(group);
  command
      .add_option("--pinned", arguments.pinned,
                  "Command that runs the baseline's build: slow drifts over many runs are run again with both builds")
      ->type_name("COMMAND")
      ->group(group);
  command.add_option("--confirm-dir", arguments.confirm_folder, "Keep the results of the repeated runs in this folder")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option("--most", arguments.max_suspects, "Run at most this many cases again, the largest slowdowns first")
      ->type_name("N")
      ->check(count_of(1))
      ->capture_default_str()
      ->group(group);
  command.add_option("--null-a", arguments.null_a, "Null control: results of the measured build under one label")
      ->type_name("FILE")
      ->group("Validity");
  command
      .add_option("--null-b", arguments.null_b,
                  "Null control: results of the same build under another label; they must not differ")
      ->type_name("FILE")
      ->group("Validity");
}

void add_output_options(CLI::App& command, GateArguments& arguments) {
  command.add_flag("--dry-run", arguments.dry_run, "Judge, but record nothing and run nothing");
  command.add_flag("--heartbeat", arguments.heartbeat,
                   "Check that the gate finds the slowdown planted in RUN (--tb_plant), and record nothing; exit with "
                   "6 if it does not");
  command.add_flag("--pool", arguments.pool,
                   "Judge against the runs of all machines with this model of GPU, each shifted to the level of this "
                   "machine, instead of this machine's own runs only");
  command.add_flag("--again", arguments.again, "Judge again a run that was already judged");
  command
      .add_option("--accept", arguments.accept, "Accept this run's level as the new baseline of the cases that match")
      ->type_name("REGEX");
  command
      .add_option(
          "--retire", arguments.changes.retire,
          "No longer expect the cases that match; every other case that once counted is MISSING from a run that "
          "lacks it")
      ->type_name("REGEX");
  command
      .add_option("--renamed", arguments.changes.renamed,
                  "The case OLD is now called NEW; its series continues (repeatable)")
      ->type_name("OLD=NEW");
  command.add_flag(
      "--partial", arguments.partial,
      "RUN measured only part of the cases on purpose: judge these, record nothing, and report no others as "
      "MISSING");
  add_tau_option(command, arguments.tau_percent);
  command.add_flag("--strict", arguments.strict,
                   "Exit with 4 for REVIEW: a case is uncertain, or the machine has changed");
  add_wait_option(command, arguments.wait);
  command.add_flag("--markdown", arguments.markdown, "Print Markdown, for a job summary");
  command.add_flag("--json", arguments.json, "Print JSON with all data, for a chat hook");
  command.add_option("--junit", arguments.junit, "Also write a JUnit report with one test per case")->type_name("FILE");
}

}  // namespace

void declare_gate_options(CLI::App& command, GateArguments& arguments) {
  command.add_option("RUN", arguments.files, "Results of the run, one file per process")->required();
  command.add_option("--db", arguments.db, "The history; created if there is none")
      ->type_name("FILE")
      ->capture_default_str();
  add_confirmation_options(command, arguments);
  add_output_options(command, arguments);
}

void check_gate_arguments(const GateArguments& arguments) {
  check_combination(arguments);
  check_files(arguments);
  check_outputs(arguments);
}

}  // namespace tbench::tool

#include "gate.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "confirmation.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/comparison.hpp"
#include "tbench/report/durable_file.hpp"
#include "tbench/report/gate.hpp"
#include "tbench/report/history.hpp"
#include "tbench/report/night_export.hpp"
#include "tbench/report/night_page.hpp"
#include "tbench/report/progress_line.hpp"
#include "tbench/report/result_json.hpp"
#include "tbench/report/text_width.hpp"

namespace tbench::tool {
namespace {

using report::History;
using report::MeasuredRun;
using report::NightReport;

struct Arguments {
  std::string db{"tbench.db"};
  std::vector<std::string> files;
  std::vector<std::string> null_a;
  std::vector<std::string> null_b;
  std::string good;
  std::string pinned;
  std::string next;
  std::string confirm_folder;
  std::string accept;
  std::optional<double> tau_percent;
  double wait{History::kWait.value};
  std::int64_t most_candidates{40};
  bool again{};
  bool dry_run{};
  bool strict{};
  bool markdown{};
  bool json{};
  std::string junit;
};

void check(const Arguments& arguments) {
  if (arguments.markdown && arguments.json) throw UsageError{"--markdown and --json exclude each other; give one"};
  if (arguments.null_a.empty() != arguments.null_b.empty()) {
    throw UsageError{"--null-a and --null-b belong together: the same build under two labels; give both or neither"};
  }
  const bool has_kept = !arguments.good.empty() || !arguments.pinned.empty();
  if (has_kept && arguments.next.empty()) {
    throw UsageError{"--good and --pinned need --new: the command that runs tonight's build"};
  }
  if (!has_kept && !arguments.next.empty()) {
    throw UsageError{"--new needs --good or --pinned: a kept build that candidates are run against"};
  }
  if (arguments.tau_percent && !(*arguments.tau_percent > 0 && *arguments.tau_percent < 100)) {
    throw UsageError{
        fmt::format("--tau: {} is no threshold; give percent, above 0 and below 100", *arguments.tau_percent)};
  }
  if (!(arguments.wait >= 0 && arguments.wait <= 3600)) {
    throw UsageError{fmt::format("--wait: {} is no time; give seconds, from 0 to 3600", arguments.wait)};
  }
  if (arguments.most_candidates < 1) {
    throw UsageError{fmt::format("--most: {} cases; give 1 or more", arguments.most_candidates)};
  }
}

History open_history(const Arguments& arguments) {
  const Seconds wait{arguments.wait};
  if (!arguments.dry_run) return History::open(arguments.db, wait);
  return std::filesystem::exists(arguments.db) ? History::open_copy(arguments.db, wait) : History::in_memory();
}

std::optional<report::NullControlSides> null_control(const Arguments& arguments) {
  if (arguments.null_a.empty()) return std::nullopt;
  return report::NullControlSides{.a = report::side_of(report::read_compared_runs(arguments.null_a)),
                                  .b = report::side_of(report::read_compared_runs(arguments.null_b))};
}

/// Where the second look's results go: the folder asked for, else one that is gone at the end.
class ConfirmationFolder {
 public:
  explicit ConfirmationFolder(std::string asked) : path_{std::move(asked)}, is_ours_{path_.empty()} {
    if (!is_ours_) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "tbench-confirm-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw UsageError{"no temporary folder can be made; give --confirm-dir"};
    path_ = pattern;
  }
  ConfirmationFolder(const ConfirmationFolder&) = delete;
  ConfirmationFolder& operator=(const ConfirmationFolder&) = delete;
  ~ConfirmationFolder() {
    std::error_code error;
    if (is_ours_) std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_ours_;
};

NightReport judge(const Arguments& arguments, const History& history, const MeasuredRun& run,
                  const std::set<std::string>& accepted) {
  const ConfirmationFolder folder{arguments.confirm_folder};
  report::GateOptions options;
  constexpr double kPercent = 100;
  if (arguments.tau_percent) options.tau = *arguments.tau_percent / kPercent;
  options.most_candidates = static_cast<std::size_t>(arguments.most_candidates);
  options.accepted = accepted;
  const bool may_run = !arguments.dry_run;
  if (may_run && !arguments.good.empty()) {
    options.confirm_last_good = confirmation(arguments.good, arguments.next, folder.path(), "good");
  }
  if (may_run && !arguments.pinned.empty()) {
    options.confirm_pinned = confirmation(arguments.pinned, arguments.next, folder.path(), "pinned");
  }
  const auto past = history.past(run.fingerprint, run.epoch, run.started, report::kTrendNights);
  return report::judge_night(past, run, null_control(arguments), options);
}

NightReport judged(const Arguments& arguments) {
  const MeasuredRun run = report::read_measured_run(arguments.files);
  const std::set<std::string> accepted = report::matching_keys(run, arguments.accept, "--accept");
  History history = open_history(arguments);
  const std::int64_t id = history.add(run).id;
  if (!arguments.again && accepted.empty()) {
    if (std::optional<NightReport> known = history.judgement(id)) return *std::move(known);
  }
  NightReport report = judge(arguments, history, run, accepted);
  if (!report.is_valid && !accepted.empty()) {
    fmt::print(stderr, "warning: --accept: the machine was not as usual, so nothing was accepted\n");
  }
  history.record(id, report, report.is_valid ? accepted : std::set<std::string>{});
  return report;
}

std::string text_of(const NightReport& report, const Arguments& arguments) {
  if (arguments.json) return report::pretty(report::night_message(report, arguments.strict));
  return report::night_page(report, {.markdown = arguments.markdown,
                                     .colour = ::isatty(STDOUT_FILENO) == 1,
                                     .max_width = report::terminal_width(STDOUT_FILENO)});
}

int run(const Arguments& arguments) {
  check(arguments);
  try {
    const NightReport report = judged(arguments);
    if (!arguments.junit.empty()) {
      report::write_atomically(arguments.junit, report::night_to_junit(report, arguments.strict));
    }
    fmt::print("{}", text_of(report, arguments));
    if (arguments.dry_run) fmt::print(stderr, "dry run: nothing was recorded and nothing was run again\n");
    return report::exit_status(report, arguments.strict);
  } catch (const report::NotComparable& error) {
    fmt::print(stderr, "tbench: not comparable: {}\n", report::one_line(error.what()));
    return report::kExitNotComparable;
  }
}

void add_confirmation_options(CLI::App& command, Arguments& arguments) {
  const std::string group = "Running candidates again";
  command.add_option("--new", arguments.next, "Command that runs tonight's build, e.g. './transformer_bench'")
      ->type_name("COMMAND")
      ->group(group);
  command
      .add_option("--good", arguments.good,
                  "Command that runs the last good build: what looks regressed is run with both, in turns")
      ->type_name("COMMAND")
      ->group(group);
  command
      .add_option("--pinned", arguments.pinned,
                  "Command that runs the build of the baseline: what crept over many nights is run with both")
      ->type_name("COMMAND")
      ->group(group);
  command.add_option("--confirm-dir", arguments.confirm_folder, "Keep the results of these runs in this folder")
      ->type_name("DIR")
      ->group(group);
  command.add_option("--most", arguments.most_candidates, "Run at most so many cases again, the gravest")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command.add_option("--null-a", arguments.null_a, "Null control: results of tonight's build under one label")
      ->type_name("FILE")
      ->group("Validity");
  command.add_option("--null-b", arguments.null_b, "... and under another: they must not differ")
      ->type_name("FILE")
      ->group("Validity");
}

void add_output_options(CLI::App& command, Arguments& arguments) {
  command.add_flag("--dry-run", arguments.dry_run, "Judge, but record nothing and run nothing");
  command.add_flag("--again", arguments.again, "Judge a run anew that was judged already");
  command
      .add_option("--accept", arguments.accept,
                  "Take tonight's level of the cases that match as the new normal: their baseline from now on")
      ->type_name("REGEX");
  command
      .add_option("--tau", arguments.tau_percent,
                  "Least change that matters, in percent (else 2 for model steps, 3, and 5 below 100 us)")
      ->type_name("PERCENT");
  command.add_flag("--strict", arguments.strict, "Exit with 4 where a case is uncertain or the night is not valid");
  command.add_option("--wait", arguments.wait, "Seconds to wait while another program writes to the history")
      ->type_name("S")
      ->capture_default_str();
  command.add_flag("--markdown", arguments.markdown, "For a job summary");
  command.add_flag("--json", arguments.json, "For a chat hook, in full");
  command.add_option("--junit", arguments.junit, "Also write a JUnit report, a test a case")->type_name("FILE");
}

}  // namespace

void add_gate(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("gate", "Judge a night against the nights before it, and remember it");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("RUN", arguments->files, "Results of the night's processes, a file each")->required();
  command->add_option("--db", arguments->db, "The history; made if there is none")
      ->type_name("FILE")
      ->capture_default_str();
  add_confirmation_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->footer(
      "The same run a second time changes nothing, and prints the same.\n"
      "Exit: 0 nothing regressed, or the machine was not as usual; 1 a confirmed regression; 2 usage, unreadable input "
      "or history; 3 files not of one run; 4 see --strict; 5 the null control failed.");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tbench::tool

// `tbench gate`: compares a run with the earlier runs of its machine. Cases that look regressed are confirmed by
// alternating runs of a kept build and of the candidate's build.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "help/messages.hpp"
#include "help/outputs.hpp"
#include "nights/arguments.hpp"
#include "nights/confirmation.hpp"
#include "nights/facts.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/core/error.hpp"
#include "tbench/gate/gate.hpp"
#include "tbench/gate/gate_output.hpp"
#include "tbench/history/history.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::tool {
namespace {

using gate::GateReport;
using history::History;
using history::MeasuredRun;

History open_history(const GateArguments& arguments) {
  const Seconds wait{arguments.wait};
  if (!arguments.dry_run && !arguments.heartbeat && !arguments.partial) {
    const bool is_new = !std::filesystem::exists(arguments.db);
    History history = History::open(arguments.db, wait);
    if (is_new) note(fmt::format("there was no history '{}', so a new one was made", arguments.db));
    return history;
  }
  return std::filesystem::exists(arguments.db) ? History::open_copy(arguments.db, wait) : History::in_memory();
}

std::optional<gate::AaControlSides> null_control(const GateArguments& arguments) {
  if (arguments.null_a.empty()) return std::nullopt;
  std::vector<compare::ComparisonSide> a = compare::read_sides(arguments.null_a);
  std::vector<compare::ComparisonSide> b = compare::read_sides(arguments.null_b);
  compare::CopyFinder copies;  // copies would never differ
  for (const compare::ComparisonSide& side : a) copies.add(side);
  for (const compare::ComparisonSide& side : b) copies.add(side);
  return gate::AaControlSides{.a = compare::merged(std::move(a)), .b = compare::merged(std::move(b))};
}

/// Returns the runs of the machines that make up a pool with the machine of `run`.
std::vector<std::vector<history::PastRun>> other_machines(const History& history, const MeasuredRun& run) {
  std::vector<std::vector<history::PastRun>> machines;
  for (const std::string& fingerprint : history.fingerprints()) {
    if (fingerprint == run.fingerprint) continue;
    const std::vector<history::StoredRun> runs = history.runs(fingerprint, run.started);
    if (runs.empty() || history::pool_of(runs.front().environment) != history::pool_of(run.environment)) continue;
    machines.push_back(history.past(fingerprint, run.epoch, run.started, gate::kTrendRuns));
  }
  return machines;
}

/// Judges a run.
/// @param id  id of the run in the history; absent for a run of one case with an injected slowdown
GateReport judge(const GateArguments& arguments, const History& history, const MeasuredRun& run,
                 std::optional<std::int64_t> id, const std::set<std::string>& accepted) {
  ConfirmationFolder folder{arguments.confirm_folder};
  gate::GateOptions options;
  constexpr double kPercent = 100;
  if (arguments.tau_percent) options.tau = *arguments.tau_percent / kPercent;
  options.max_suspects = static_cast<std::size_t>(arguments.max_suspects);
  options.accepted = accepted;
  if (arguments.pool) options.other_machines = other_machines(history, run);
  const bool may_run = !arguments.dry_run;
  if (may_run && !arguments.good.empty()) {
    options.confirm_last_good = confirmation(arguments.good, arguments.next, folder, "good");
    options.run_last_good = run_once(arguments.good, folder, "kept");
  }
  if (may_run && !arguments.pinned.empty()) {
    options.confirm_pinned = confirmation(arguments.pinned, arguments.next, folder, "pinned");
  }
  const auto past = history.past(run.fingerprint, run.epoch, run.started, gate::kTrendRuns);
  if (id) options.night = night_facts(history, run, *id, past, arguments.partial);
  return gate::judge_run(past, run, null_control(arguments), options);
}

GateReport judged(const GateArguments& arguments, const MeasuredRun& run) {
  const std::set<std::string> accepted = history::matching_keys(run, arguments.accept, "--accept");
  History history = open_history(arguments);
  apply(arguments.changes, history, run);
  const std::int64_t id = history.add_to_judge(run).id;
  if (!arguments.again && !arguments.partial && accepted.empty() && !arguments.changes.any()) {
    if (std::optional<GateReport> known = gate::recorded_judgement(history, id)) return *std::move(known);
  }
  GateReport report = judge(arguments, history, run, id, accepted);
  if (report.machine_change && report.machine_change->was_accepted) {
    warn(
        "--accept: the machine is not as in earlier runs; its level is accepted with the cases', and every series "
        "starts afresh, so the build is not kept");
  }
  gate::record_judgement(history, id, report, accepted);
  return report;
}

gate::GateInput input_of(const GateArguments& arguments, const MeasuredRun& run) {
  return {.db = arguments.db,
          .files = arguments.files,
          .null_a = arguments.null_a,
          .null_b = arguments.null_b,
          .run = run.run};
}

[[noreturn]] void refuse_unplanted(const GateArguments& arguments, const MeasuredRun& run) {
  const std::string problem = fmt::format(
      "--heartbeat: no slowdown was planted in '{}'; measure it with --tb_plant=CASE:0.05", arguments.files.front());
  const auto judged = std::ranges::find_if(run.cases, [](const auto& c) { return c.id.family() != "Ceiling"; });
  if (judged == run.cases.end()) throw UsageError{problem};
  const std::string name = judged->id.name();
  throw results::CorrectableError{
      problem, fmt::format("transformer_bench{} --tb_processes=5 --tb_plant={} --benchmark_out=heartbeat.json",
                           results::flags_for(run.run, {&name, 1}), results::quoted(name + ":0.05"))};
}

/// Checks whether the gate finds the slowdown that was injected into the run. Records nothing in the history.
int run_heartbeat(const GateArguments& arguments, const MeasuredRun& run) {
  if (run.planted.empty()) refuse_unplanted(arguments, run);
  const std::string name = run.planted.substr(0, run.planted.rfind(':'));
  const std::string share = run.planted.substr(name.size() + 1);
  const GateReport report = judge(arguments, open_history(arguments), run, std::nullopt, {});
  const auto planted = std::ranges::find(report.cases, name, &gate::CaseReport::name);
  if (planted == report.cases.end()) {
    throw UsageError{fmt::format("--heartbeat: '{}' is not among the results, in which it was planted", name)};
  }
  const results::Conclusion heartbeat = gate::heartbeat_conclusion(report, *planted, share, input_of(arguments, run));
  const int status = heartbeat.outcome == gate::kBlind ? gate::kExitBlind : kExitOk;
  if (arguments.json) {
    fmt::print("{}", results::pretty(gate::heartbeat_message(heartbeat, name, share, status)));
  } else if (heartbeat.outcome == gate::kUnknown) {
    print_line(fmt::format("heartbeat: nothing can be said: {} is {}", name,
                           to_string(report.is_valid ? planted->outcome : gate::outcome_of(report))));
  } else {
    print_line(fmt::format("heartbeat: {}: {}, planted {}: {}",
                           status == kExitOk ? "found" : "NOT FOUND, the gate is blind", name, share,
                           gate::heartbeat_line(*planted)));
  }
  return status;
}

std::string text_of(const GateReport& report, const GateArguments& arguments, const MeasuredRun& run) {
  if (arguments.json) {
    return results::pretty(gate::report_message(report, arguments.strict, input_of(arguments, run)));
  }
  return gate::report_page(report, {.markdown = arguments.markdown,
                                    .colour = ::isatty(STDOUT_FILENO) == 1,
                                    .max_width = render::console_width(STDOUT_FILENO)});
}

int judge_and_show(const GateArguments& arguments) {
  check_gate_arguments(arguments);
  const MeasuredRun run = history::read_measured_run(arguments.files);
  if (arguments.heartbeat) return run_heartbeat(arguments, run);
  const GateReport report = judged(arguments, run);
  if (!arguments.junit.empty()) {
    write_output("--junit", arguments.junit, gate::report_to_junit(report, arguments.strict));
  }
  fmt::print("{}", text_of(report, arguments, run));
  if (arguments.dry_run) say("dry run: nothing was recorded and nothing was run again");
  return gate::exit_status(report, arguments.strict);
}

}  // namespace

void add_gate(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("gate", "Judge a run against earlier ones, and add it to the history");
  const auto arguments = std::make_shared<GateArguments>();
  declare_gate_options(*command, *arguments);
  command->footer(
      "Judging the same run a second time changes nothing and prints the same.\n"
      "Exit: 0 PASSED, or REVIEW without --strict; 1 a case failed, is wrong, missing, impossibly fast or confirmed to "
      "be slower; 2 usage, unreadable input or history; 3 files of different runs; 4 see --strict; without --good, a "
      "slowdown is at most UNCONFIRMED, which is a REVIEW; 5 the null control "
      "failed; 6 nothing was judged in more than three runs in a row, or the heartbeat was not found; 7 the run is "
      "incomplete, or its samples are those of an earlier one.");
  command->callback([arguments, &exit_status] { exit_status = judge_and_show(*arguments); });
}

}  // namespace tbench::tool

// The program tbench, which evaluates results. Each subcommand has its own file. It needs neither CUDA nor LibTorch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "help/examples.hpp"
#include "help/file_kinds.hpp"
#include "help/messages.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/bound_run.hpp"
#include "tbench/render/help.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/write_error.hpp"

namespace {

/// Flushes standard output before the end of main. Without this, stdio would write the rest after main, and a full disk
/// would go unnoticed.
/// @return  `status`, or the exit status of a failed write
int after_flush(int status) {
  const std::optional<std::string> problem = tbench::results::flush_standard_output();
  if (!problem) return status;
  tbench::tool::say("tbench: " + *problem);
  return tbench::kExitUsage;
}

int run(int argc, char** argv) {
  CLI::App app{"Shows and compares results of transformer_bench.", "tbench"};
  app.set_version_flag("--version", TBENCH_VERSION);
  app.formatter(std::make_shared<tbench::render::HelpFormatter>());
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_status = tbench::kExitOk;
  // With --json, the cause also goes to standard output, as a document.
  const auto fail = [&app](const std::string& problem, const tbench::results::Conclusion& conclusion, int status) {
    tbench::tool::say("tbench: " + problem);
    fmt::print("{}", tbench::tool::error_document(app, conclusion, status));
    return status;
  };
  tbench::tool::add_classify(app);
  tbench::tool::add_diff(app, exit_status);
  tbench::tool::add_durations(app);
  tbench::tool::add_fleet(app, exit_status);
  tbench::tool::add_gate(app, exit_status);
  tbench::tool::add_history(app, exit_status);
  tbench::tool::add_merge(app, exit_status);
  tbench::tool::add_nsys(app, exit_status);
  tbench::tool::add_profile(app);
  tbench::tool::add_report(app, exit_status);
  tbench::tool::add_spreads(app);
  tbench::tool::add_examples(app);
  const std::vector<std::string> words{argv + 1, argv + argc};
  tbench::tool::refuse_other_kinds(app, words);
  if (argc == 1) {
    static_cast<void>(std::fputs(app.help().c_str(), stderr));
    return tbench::kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string problem = tbench::tool::explain(app, error, words);
    return fail(problem, {.outcome = "ERROR", .why = {problem}}, tbench::kExitUsage);
  } catch (const tbench::compare::NotComparable& error) {
    const std::string problem = tbench::render::one_line(error.what());
    return fail("not comparable: " + problem, {.outcome = "NOT_COMPARABLE", .why = {problem}, .next = error.next()},
                tbench::compare::kExitNotComparable);
  } catch (const tbench::results::CorrectableError& error) {
    return fail(error.what(), {.outcome = "ERROR", .why = {error.what()}, .next = error.next()}, tbench::kExitUsage);
  } catch (const tbench::process::Interrupted& interrupted) {
    constexpr int kSignalStatus = 128;
    return fail(interrupted.what(), {.outcome = "ERROR", .why = {interrupted.what()}},
                kSignalStatus + interrupted.number());
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return tbench::kExitUsage;  // after_flush() explains it
    return fail(error.what(), {.outcome = "ERROR", .why = {error.what()}}, tbench::kExitUsage);
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  tbench::results::hold_standard_streams();
  tbench::results::survive_file_size_limit();
  return after_flush(run(argc, argv));
}

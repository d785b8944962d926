// tbench: what to do with results. One file a subcommand. Needs neither CUDA nor LibTorch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command_line.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/compare/comparison_input.hpp"
#include "tbench/core/error.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/conclusion.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Shows and compares results of transformer_bench.", "tbench"};
  app.set_version_flag("--version", TBENCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_status = tbench::kExitOk;
  // With --json, the cause goes to standard output as a document too.
  const auto fail = [&app](const std::string& problem, const tbench::results::Conclusion& conclusion, int status) {
    fmt::print(stderr, "tbench: {}\n", problem);
    fmt::print("{}", tbench::tool::error_document(app, conclusion, status));
    return status;
  };
  tbench::tool::add_classify(app);
  tbench::tool::add_diff(app, exit_status);
  tbench::tool::add_fleet(app, exit_status);
  tbench::tool::add_gate(app, exit_status);
  tbench::tool::add_history(app);
  tbench::tool::add_merge(app, exit_status);
  tbench::tool::add_nsys(app);
  tbench::tool::add_profile(app);
  tbench::tool::add_report(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string problem = tbench::tool::explain(app, error);
    return fail(problem, {.verdict = "ERROR", .why = {problem}}, tbench::kExitUsage);
  } catch (const tbench::compare::NotComparable& error) {
    const std::string problem = tbench::render::one_line(error.what());
    return fail("not comparable: " + problem, {.verdict = "NOT_COMPARABLE", .why = {problem}, .next = error.next()},
                tbench::compare::kExitNotComparable);
  } catch (const tbench::results::CorrectableError& error) {
    return fail(error.what(), {.verdict = "ERROR", .why = {error.what()}, .next = error.next()}, tbench::kExitUsage);
  } catch (const std::exception& error) {
    return fail(error.what(), {.verdict = "ERROR", .why = {error.what()}}, tbench::kExitUsage);
  }
  return exit_status;
}

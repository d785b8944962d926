// tbench: what to do with results. One file a subcommand. Needs neither CUDA nor LibTorch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command_line.hpp"
#include "tbench/core/error.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Shows and compares the results of transformer_bench.", "tbench"};
  app.set_version_flag("--version", TBENCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_status = tbench::kExitOk;
  tbench::tool::add_classify(app);
  tbench::tool::add_diff(app, exit_status);
  tbench::tool::add_fleet(app, exit_status);
  tbench::tool::add_gate(app, exit_status);
  tbench::tool::add_history(app, exit_status);
  tbench::tool::add_merge(app, exit_status);
  tbench::tool::add_nsys(app);
  tbench::tool::add_profile(app);
  tbench::tool::add_report(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "tbench: {}\n", tbench::tool::explain(app, error));
    return tbench::kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tbench: {}\n", error.what());
    return tbench::kExitUsage;
  }
  return exit_status;
}

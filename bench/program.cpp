#include "bench/program.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "bench/plugins.hpp"
#include "bench/ranks/rank_meeting.hpp"
#include "bench/ranks/rank_session.hpp"
#include "bench/runners.hpp"
#include "bench/session.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

/// @param meeting  made here where there are other ranks
int run(int argc, const char* const* argv,
        const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families,
        std::unique_ptr<RankMeeting>& meeting) {
  const std::optional<ranks::Launch> launch = own_launch();
  if (launch) meeting = make_meeting(*launch);
  const ParsedCommandLine command = parse_command_line(argc, argv);
  if (command.help) {
    if (!launch || launch->rank == 0) std::cout << *command.help;
    return kExitOk;
  }
  Options options = command.options;
  options.launch = launch;
  if (options.worker) meeting.reset();  // its supervisor speaks for the rank
  if (options.worker && options.worker_task == WorkerTask::kPlugins) return run_plugin_describer(options);
  const std::vector<model::Plugin> plugins = describe_plugins(options);
  add_plugins(plugins, options);
  const std::vector<Family> families = make_families(options.sizes);
  if (options.worker) return run_worker(families, options);
  std::vector<std::string> arguments{argv + 1, argv + argc};
  if (!plugins.empty()) {
    options.described_plugins = to_text(plugins);
    arguments.push_back("--tb_described_plugins=" + options.described_plugins);
  }
  return run_session(families, options, std::move(arguments), meeting.get());
}

}  // namespace

int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  std::unique_ptr<RankMeeting> meeting;
  try {
    return run(argc, argv, make_families, meeting);
  } catch (const UsageError& error) {
    if (!meeting || meeting->refuse(error.what())) std::cerr << "transformer_bench: " << error.what() << '\n';
    return kExitUsage;
  } catch (const std::exception& error) {
    // Its worker cannot be started, say: the others would wait for it.
    if (meeting && !meeting->is_introduced() && !meeting->refuse(error.what())) return kExitFailedCase;
    std::cerr << "transformer_bench: " << (meeting ? fmt::format("rank {}: ", meeting->launch().rank) : "")
              << error.what() << '\n';
    return kExitFailedCase;
  }
}

}  // namespace tbench::bench

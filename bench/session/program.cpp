#include "bench/session/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/author/exports.hpp"
#include "bench/author/function_names.hpp"
#include "bench/author/page.hpp"
#include "bench/cli/options.hpp"
#include "bench/explain/explain_cases.hpp"
#include "bench/plan/selection.hpp"
#include "bench/run/plugins.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/run/rendezvous.hpp"
#include "bench/run/stop_signals.hpp"
#include "bench/run/worker.hpp"
#include "bench/session/rank_session.hpp"
#include "bench/session/session.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/write_error.hpp"

namespace tbench::bench {
namespace {

/// Runs the program without handling its errors.
/// @param rendezvous  set here if there are other ranks
int run(std::chrono::steady_clock::time_point program_began, int argc, const char* const* argv,
        const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families,
        std::unique_ptr<Rendezvous>& rendezvous) {
  const std::optional<ranks::Launch> launch = own_launch();
  if (launch) rendezvous = make_rendezvous(*launch);
  const ParsedCommandLine command = parse_command_line(argc, argv);
  if (command.help) {
    if (!launch || launch->rank == 0) std::cout << *command.help;
    return kExitOk;
  }
  Options options = command.options;
  options.launch = launch;
  if (options.worker) rendezvous.reset();  // the worker's supervisor speaks for the rank
  if (options.worker_task == WorkerTask::kDevice) {
    refuse_gpu_without_cuda();
    return kExitOk;
  }
  if (options.worker && options.worker_task == WorkerTask::kPlugins) return run_plugin_describer(options);
  std::vector<model::Plugin> plugins = describe_plugins(options);
  if (!options.worker) check_functions(plugins);
  add_plugins(plugins, options);
  const std::vector<Family> families = make_families(options.sizes);
  if (options.worker) return run_worker(families, options);
  if (!options.explain.empty()) {
    explain_cases(families, options);
    return kExitOk;
  }
  check_page(options);
  const bool has_functions = std::ranges::any_of(options.plugins, &model::is_python_function);
  if (!options.list_only && has_functions) {
    const bool use_gpu = options.device != DeviceChoice::kCpu && present_gpu().has_value();
    export_functions(plugins, select_for_launch(families, options, use_gpu).cases, options);
  }
  Call call{.words = {argv, argv + argc}, .arguments = {argv + 1, argv + argc}, .program_began = program_began};
  if (!plugins.empty()) {
    options.described_plugins = to_text(plugins);
    call.arguments.push_back("--tb_described_plugins=" + options.described_plugins);
  }
  const bool writes_page = !options.list_only && (rendezvous == nullptr || rendezvous->is_coordinator());
  const int status = run_session(families, options, std::move(call), rendezvous.get());
  return writes_page ? write_page(options, status) : status;
}

/// Calls run(), and prints errors on stderr.
int run_and_explain(std::chrono::steady_clock::time_point began, int argc, const char* const* argv,
                    const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  std::unique_ptr<Rendezvous> rendezvous;
  try {
    return run(began, argc, argv, make_families, rendezvous);
  } catch (const UsageError& error) {
    if (!rendezvous || rendezvous->refuse(error.what())) std::cerr << "transformer_bench: " << error.what() << '\n';
    return kExitUsage;
  } catch (const results::WriteError& error) {
    std::cerr << "transformer_bench: " << error.what() << '\n';
    return results::kExitNotWritten;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return results::kExitNotWritten;  // run_program() reports this error
    // Tell the other ranks, which would wait for this one, e.g. if its worker cannot be started.
    if (rendezvous && !rendezvous->is_introduced() && !rendezvous->refuse(error.what())) return kExitFailedCase;
    std::cerr << "transformer_bench: " << (rendezvous ? fmt::format("rank {}: ", rendezvous->launch().rank) : "")
              << error.what() << '\n';
    return stop_signalled() ? kExitInterrupted : kExitFailedCase;
  }
}

}  // namespace

int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families) {
  const auto began = std::chrono::steady_clock::now();
  results::hold_standard_streams();
  results::survive_file_size_limit();
  const int status = run_and_explain(began, argc, argv, make_families);
  const std::optional<std::string> problem = results::flush_standard_output();
  if (!problem) return status;
  std::cerr << "transformer_bench: " << *problem << '\n';
  return status == kExitUsage ? status : results::kExitNotWritten;
}

}  // namespace tbench::bench

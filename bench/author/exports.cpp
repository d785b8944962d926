#include "bench/author/exports.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "bench/author/export_process.hpp"
#include "bench/author/tools.hpp"
#include "bench/plan/python_function.hpp"
#include "bench/run/plugins.hpp"
#include "bench/run/stop_signals.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTool = "export_kernel.py";
constexpr std::size_t kMaxJobs = 6;  // attention has six graphs
constexpr std::chrono::milliseconds kBetweenLooks{100};
/// The number of hexadecimal digits of a digest in a package's name: 128 bits.
constexpr std::size_t kNamedDigits = 32;

/// One package to export: its path, the need that it serves, and the command that makes it.
struct Export {
  std::string path;
  std::string served;                // `bf16, heads=1, head_dim=64`
  std::vector<std::string> command;  // without --jobs and --out
};

struct Exporter {
  std::string python, tool, folder;
  model::PackageOrigin origin;
};

Exporter make_exporter(PluginDescriber& describer, const std::string& path) {
  const std::optional<std::string> tool = find_tool(kTool);
  if (!tool)
    throw std::runtime_error{fmt::format("tools/{} is not installed next to this program: install it again", kTool)};
  return {.python = find_python(), .tool = *tool, .folder = package_cache(), .origin = describer.origin(path)};
}

/// Returns the file name of a package: `mine-attention-SHA-torch2.11.0-sm90-bf16-heads1-head_dim64.pt2`
std::string package_name(const model::Plugin& plugin, const std::string& op, const PackageNeed& need,
                         const model::PackageOrigin& origin) {
  std::string fixed = need.fix;
  std::erase(fixed, '=');
  std::ranges::replace(fixed, ',', '-');
  std::string machine = origin.machine;
  std::ranges::replace(machine, ' ', '_');
  return fmt::format("{}-{}-{}-torch{}-{}-{}{}{}.pt2", plugin.name, op, plugin.digest.substr(0, kNamedDigits),
                     origin.torch, machine, need.precision, fixed.empty() ? "" : "-", fixed);
}

Export planned_export(const model::Plugin& plugin, const PackageNeed& need, const Exporter& exporter) {
  const PythonFunction function = parse_python_function(plugin.path);
  const std::string path = exporter.folder + "/" + package_name(plugin, function.op, need, exporter.origin);
  std::vector<std::string> command{exporter.python, exporter.tool, plugin.path, "--op",     function.op,
                                   "--backward",    "auto",        "--name",    plugin.name};
  command.insert(command.end(), {"--precision", need.precision});
  std::vector<std::string> served{need.precision};
  if (!need.fix.empty()) served.push_back(need.fix);
  if (!need.fix.empty()) command.insert(command.end(), {"--fix", need.fix});
  command.insert(command.end(), {"--device", exporter.origin.machine.starts_with("cpu") ? "cpu" : "cuda"});
  return {.path = path, .served = join(served, ", "), .command = std::move(command)};
}

/// Runs exports, several at a time, and shows them on stderr.
class Exports {
 public:
  explicit Exports(std::vector<const Export*> missing) : missing_{std::move(missing)} {}

  /// Runs all exports, until a signal asks the program to stop.
  /// @return  reason of the first failure; empty if there is none
  std::string run() {
    while (!stop_signalled() && (next_ < missing_.size() || !running_.empty())) {
      while (running_.size() < at_a_time() && next_ < missing_.size()) begin(*missing_[next_++]);
      show();
      std::this_thread::sleep_for(kBetweenLooks);
      std::erase_if(running_, [&](Running& one) { return one.process->has_ended() && end(one); });
    }
    return fault_;
  }

  /// Returns the number of exports at a time: half as many as there are cores.
  [[nodiscard]] std::size_t at_a_time() const { return std::min(processes(), missing_.size()); }

 private:
  /// Returns the number of processes of all exports together.
  static std::size_t processes() { return std::max(1U, std::thread::hardware_concurrency() / 2); }

  struct Running {
    const Export* planned;
    std::unique_ptr<ExportProcess> process;
  };

  /// Starts an export. If there are fewer exports than processes, each has several.
  void begin(const Export& planned) {
    const std::size_t jobs = std::clamp<std::size_t>(processes() / missing_.size(), 1, kMaxJobs);
    std::vector<std::string> command = planned.command;
    command.insert(command.end(), {"--jobs", std::to_string(jobs)});
    running_.push_back({&planned, std::make_unique<ExportProcess>(std::move(command), planned.path)});
  }

  /// Keeps the package of an export that has ended, or the reason for its failure, and prints its time.
  /// @return  true, since the export is no longer running
  bool end(Running& one) {
    const char* how = "made";
    try {
      one.process->keep_package();
    } catch (const std::exception& error) {
      how = "failed";
      if (fault_.empty()) fault_ = error.what();
    }
    line_.clear();
    fmt::print(stderr, "transformer_bench: package {} of {} ({}): {} in {:.0f} s\n", ++ended_, missing_.size(),
               one.planned->served, how, one.process->elapsed().value);
    return true;
  }

  void show() {
    const Running& first = running_.front();
    line_.update({.number = ended_ + 1,
                  .count = missing_.size(),
                  .name = first.planned->served,
                  .activity = first.process->step(),
                  .elapsed = first.process->elapsed(),
                  .remaining = std::nullopt});
  }

  std::vector<const Export*> missing_;
  std::size_t next_{};
  std::size_t ended_{};
  std::vector<Running> running_;
  std::string fault_;
  render::ProgressLine line_{stderr, render::terminal_width(STDERR_FILENO)};
};

void say_start(const model::Plugin& plugin, const Exports& exports, std::size_t count, const std::string& folder) {
  fmt::print(stderr, "transformer_bench: exporting {}\n", plugin.path);
  fmt::print(stderr, "transformer_bench: {}, {} at a time, {} in {}\n", counted(count, "package"), exports.at_a_time(),
             agreeing(count, "which stays", "which stay"), folder);
}

/// Exports the missing packages of a function, and adds all of its packages to the plug-in.
/// @throws  std::exception  with the reason if the function cannot have packages at all
void export_function(model::Plugin& plugin, std::span<const PackageNeed> needs, PluginDescriber& describer) {
  const Exporter exporter = make_exporter(describer, plugin.path);
  std::vector<Export> exports;
  for (const PackageNeed& need : needs) exports.push_back(planned_export(plugin, need, exporter));
  std::vector<const Export*> missing;
  for (const Export& planned : exports) {
    if (!fs::exists(planned.path)) missing.push_back(&planned);
  }
  if (!missing.empty()) {
    Exports runs{missing};
    say_start(plugin, runs, missing.size(), exporter.folder);
    plugin.fault = runs.run();
  }
  for (const Export& planned : exports) {
    if (fs::exists(planned.path)) plugin.packages.push_back(describer.describe(planned.path));
  }
}

}  // namespace

void export_functions(std::vector<model::Plugin>& plugins, std::span<const CaseId> cases, const Options& options) {
  catch_stop_signals();
  PluginDescriber describer{options};
  for (model::Plugin& plugin : plugins) {
    if (!model::is_python_function(plugin.path) || !plugin.packages.empty() || !plugin.fault.empty()) continue;
    const std::vector<PackageNeed> needs = needed_packages(plugin, cases);
    if (needs.empty()) continue;
    try {
      export_function(plugin, needs, describer);
    } catch (const std::exception& error) {
      plugin.fault = error.what();
    }
    if (stop_signalled()) throw std::runtime_error{"stopped while functions were exported; finished packages are kept"};
    if (!plugin.fault.empty()) {
      plugin.fault = fmt::format("--tb_plugin={}: {}", plugin.path, plugin.fault);
      fmt::print(stderr, "transformer_bench: {}\n", plugin.fault);
    }
    model::complete_plugin(plugin);
  }
}

}  // namespace tbench::bench

#include "bench/author/exports.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/author/tools.hpp"
#include "bench/plan/python_function.hpp"
#include "bench/run/plugins.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/process/command.hpp"
#include "tbench/process/descriptor.hpp"

namespace tbench::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolSays = "export_kernel.py: ";
constexpr std::size_t kMaxJobs = 6;  // attention has six graphs
/// The number of hexadecimal digits of a digest in a package's name: 128 bits.
constexpr std::size_t kNamedDigits = 32;

/// One package to export: its path, and the command that makes it.
struct Export {
  std::string path;
  std::vector<std::string> command;  // the command without --out
  std::string draft;                 // moved to `path` when complete
  std::string log;
  std::unique_ptr<process::Command> running{};
};

struct Exporter {
  std::string python, tool, folder;
  model::PackageOrigin origin;
};

Exporter make_exporter(PluginDescriber& describer, const std::string& path) {
  const std::optional<std::string> tool = find_export_tool();
  if (!tool) throw std::runtime_error{"tools/export_kernel.py is not installed next to this program: install it again"};
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
  if (!need.fix.empty()) command.insert(command.end(), {"--fix", need.fix});
  command.insert(command.end(), {"--device", exporter.origin.machine.starts_with("cpu") ? "cpu" : "cuda"});
  const std::string draft = fmt::format("{}.{}", path.substr(0, path.rfind(".pt2")), ::getpid());
  return {.path = path, .command = std::move(command), .draft = draft + ".pt2", .log = draft + ".log"};
}

/// Returns the tool's own error message, otherwise the last line of its log.
std::string reason_in(const std::string& log) {
  std::ifstream file{log};
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kToolSays)) return line.substr(std::string_view{kToolSays}.size());
    if (!line.empty()) last = line;
  }
  return last.empty() ? "the tool says nothing" : last;
}

/// Starts an export.
/// @param jobs  number of processes that compile its graphs
void begin(Export& planned, std::size_t jobs) {
  const process::UniqueDescriptor log{::open(planned.log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644)};
  if (log.get() < 0) throw std::runtime_error{fmt::format("'{}' cannot be written: free some space", planned.log)};
  std::vector<std::string> words = planned.command;
  words.insert(words.end(), {"--out", planned.draft, "--jobs", std::to_string(jobs)});
  planned.running = std::make_unique<process::Command>(words, process::CommandOutput{log.get(), log.get()});
}

/// Waits for an export and moves its package to the final path.
/// @throws  std::runtime_error  with the reason if there is no package
void finish(Export& planned) {
  const int status = planned.running->wait();
  planned.running.reset();
  const std::string reason = status == 0 ? "" : reason_in(planned.log);
  std::error_code ignored;
  fs::remove(planned.log, ignored);
  if (status == 0) return fs::rename(planned.draft, planned.path);
  fs::remove(planned.draft, ignored);
  throw std::runtime_error{
      fmt::format("{}. For the whole message: {} --out mine.pt2", reason, join(planned.command, " "))};
}

/// Runs the exports, half as many at a time as there are cores. If there are fewer exports, each has several processes.
/// @return  reason of the first failure; empty if there is none
std::string make_packages(std::vector<Export*> missing) {
  const std::size_t at_a_time = std::max(1U, std::thread::hardware_concurrency() / 2);
  std::string fault;
  for (std::size_t first = 0; first < missing.size(); first += at_a_time) {
    const std::span<Export*> batch{missing.data() + first, std::min(at_a_time, missing.size() - first)};
    const std::size_t jobs = std::clamp<std::size_t>(at_a_time / batch.size(), 1, kMaxJobs);
    for (Export* const planned : batch) begin(*planned, jobs);
    for (Export* const planned : batch) {
      try {
        finish(*planned);
      } catch (const std::exception& error) {
        if (fault.empty()) fault = error.what();
      }
    }
  }
  return fault;
}

void say_start(const model::Plugin& plugin, std::size_t count, const std::string& folder) {
  fmt::print(stderr, "transformer_bench: exporting {} to {} package{}, which stay{} in {}\n", plugin.path, count,
             count == 1 ? "" : "s", count == 1 ? "s" : "", folder);
}

/// Exports the missing packages of a function, and adds all of its packages to the plug-in.
/// @throws  std::exception  with the reason if the function cannot have packages at all
void export_function(model::Plugin& plugin, std::span<const PackageNeed> needs, PluginDescriber& describer) {
  const Exporter exporter = make_exporter(describer, plugin.path);
  std::vector<Export> exports;
  for (const PackageNeed& need : needs) exports.push_back(planned_export(plugin, need, exporter));
  std::vector<Export*> missing;
  for (Export& planned : exports) {
    if (!fs::exists(planned.path)) missing.push_back(&planned);
  }
  if (!missing.empty()) say_start(plugin, missing.size(), exporter.folder);
  plugin.fault = make_packages(missing);
  for (const Export& planned : exports) {
    if (fs::exists(planned.path)) plugin.packages.push_back(describer.describe(planned.path));
  }
}

}  // namespace

void export_functions(std::vector<model::Plugin>& plugins, std::span<const CaseId> cases, const Options& options) {
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
    if (!plugin.fault.empty()) {
      plugin.fault = fmt::format("--tb_plugin={}: {}", plugin.path, plugin.fault);
      fmt::print(stderr, "transformer_bench: {}\n", plugin.fault);
    }
    model::complete_plugin(plugin);
  }
}

}  // namespace tbench::bench

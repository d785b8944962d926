#include "bench/run/plugins.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "bench/plan/python_function.hpp"
#include "bench/run/own_program.hpp"
#include "bench/run/stop_signals.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/message_channel.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {
namespace {

using process::MessageKind;
using process::Outcome;
using results::Json;

/// The number of hexadecimal digits of a plug-in's digest in results.
constexpr std::size_t kRecordedDigits = 16;

UsageError wrong_plugin(const std::string& path, const std::string& what) {
  return UsageError{fmt::format("--tb_plugin={}: {}", path, what)};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string absolute_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved{::realpath(path.c_str(), nullptr), &std::free};
  if (!resolved) throw wrong_plugin(path, "its path cannot be resolved");
  return resolved.get();
}

Json to_json(const model::Plugin& plugin) {
  Json json{{"path", plugin.path}, {"name", plugin.name}, {"digest", plugin.digest}, {"parts", plugin.parts}};
  if (!plugin.fault.empty()) json["fault"] = plugin.fault;
  for (const model::Plugin& package : plugin.packages) json["packages"].push_back(to_json(package));
  return json;
}

model::Plugin from_json(const Json& json) {
  model::Plugin plugin{
      .path = json.at("path"), .name = json.at("name"), .digest = json.at("digest"), .parts = json.at("parts")};
  plugin.fault = json.value("fault", "");
  if (json.contains("packages")) {
    for (const Json& package : json.at("packages")) plugin.packages.push_back(from_json(package));
  }
  return plugin;
}

/// Answers one request in the child: describes the plug-in at `path`. For an empty path, returns the PyTorch version
/// and the machine for which packages have to be made.
Json describe(const std::string& path, model::DeviceKind device) {
  try {
    if (!path.empty()) return to_json(model::describe_plugin(path, device));
    const model::PackageOrigin origin = model::package_origin(device);
    return {{"torch", origin.torch}, {"machine", origin.machine}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

process::SupervisorOptions describer(const Options& options) {
  const char* const device = options.device == DeviceChoice::kCpu ? "--tb_device=cpu" : "--tb_device=auto";
  return {.command = {own_program(), "--tb_worker_task=plugins", device},
          .executable = kOwnExecutable,
          .timeout = options.timeout};
}

/// Sends a request to the child and returns its answer.
/// @param path  plug-in, for messages
Json answer_of(process::Supervisor& child, const std::string& request, const std::string& path) {
  const Outcome outcome = child.request(
      request, [](std::string_view) {}, stop_signalled);
  if (outcome.kind != Outcome::Kind::kResult) {
    throw wrong_plugin(path, fmt::format("the process that loaded it ended: {}", first_line(outcome.reason)));
  }
  Json answer = results::parse_json(outcome.payload);
  if (answer.contains("error")) throw wrong_plugin(path, answer.at("error"));
  return answer;
}

}  // namespace

PluginDescriber::PluginDescriber(const Options& options) : child_{describer(options)} {}

model::Plugin PluginDescriber::describe(const std::string& path) {
  return from_json(answer_of(child_, absolute_path(path), path));
}

model::PackageOrigin PluginDescriber::origin(const std::string& path) {
  const Json answer = answer_of(child_, "", path);
  return {.torch = answer.at("torch"), .machine = answer.at("machine")};
}

std::vector<model::Plugin> describe_plugins(const Options& options) {
  std::vector<model::Plugin> plugins;
  if (options.plugins.empty()) return plugins;
  if (!options.described_plugins.empty()) {
    for (const Json& json : results::parse_json(options.described_plugins)) plugins.push_back(from_json(json));
    return plugins;
  }
  PluginDescriber describer{options};
  for (const std::string& path : options.plugins) {
    plugins.push_back(model::is_python_function(path) ? declared_function(path) : describer.describe(path));
  }
  return plugins;
}

void add_plugins(const std::vector<model::Plugin>& plugins, const Options& options) {
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    try {
      model::add_plugin(plugins[i]);
    } catch (const UsageError& error) {
      throw wrong_plugin(options.plugins.at(i), error.what());
    }
  }
}

std::string to_text(const std::vector<model::Plugin>& plugins) {
  Json described = Json::array();
  for (const model::Plugin& plugin : plugins) described.push_back(to_json(plugin));
  return results::compact(described);
}

int run_plugin_describer(const Options& options) {
  process::WorkerChannel channel{options.worker->first, options.worker->second};
  if (!channel.wait_for_begin()) return kExitOk;
  channel.send(MessageKind::kHello, "");
  const bool on_gpu = options.device != DeviceChoice::kCpu && model::cuda_device_count() > 0;
  const model::DeviceKind device = on_gpu ? model::DeviceKind::kCuda : model::DeviceKind::kCpu;
  while (const std::optional<process::Message> request = channel.receive()) {
    channel.send(MessageKind::kProgress, "loading it");
    channel.send(MessageKind::kResult, results::compact(describe(request->payload, device)));
  }
  return kExitOk;
}

void add_plugin_versions(Environment& environment, const std::vector<model::Plugin>& plugins) {
  for (const model::Plugin& plugin : plugins) {
    const std::string file = plugin.path.substr(plugin.path.rfind('/') + 1);
    environment.versions["plugin." + plugin.name] =
        fmt::format("{} sha256:{}", file, plugin.digest.substr(0, kRecordedDigits));
  }
}

void refuse_above_ceiling(Record& record) {
  const std::string* const impl = record.id.find("impl");
  if (impl == nullptr || model::find_plugin(*impl) == nullptr || !record.timing) return;
  const std::map<std::string, double> counters = counters_of(record);
  const auto above = counters.find("above_ceiling");
  if (above == counters.end() || above->second == 0) return;
  record.status = Status::kIncorrect;
  record.reason =
      fmt::format("{:.2f} of the ceiling '{}' that this run measured: the time cannot be that of the whole work",
                  counters.at("ceiling_share"), record.work->ceiling);
  record.timing.reset();
  record.device.reset();
  record.peak_at_clock.reset();
  record.boost_peak.reset();
  record.ceiling_per_second.reset();
  record.floor.reset();
  record.memory.reset();
  record.trace.reset();
  record.counters.clear();
  record.labels.clear();
}

}  // namespace tbench::bench

#include "tbench/model/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>

#include "model/plugins/library.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "model/torch/output_checker.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::string_view kPythonFunction = ".py:";  // file and function on either side of the colon

const auto& plugin_families() {
  static const std::array families{attention_plugin_family(), gemm_plugin_family(), kernel_plugin_family()};
  return families;
}

struct Added {
  Plugin plugin;
  // Set once a case has asked for the plug-in: either the library or the packages.
  const tbench_plugin_description* library{};
  std::vector<KernelPackage> packages;
};

/// Returns the plug-ins that were added. Pointers to them stay valid.
std::deque<Added>& added_plugins() {
  static std::deque<Added> plugins;
  return plugins;
}

Added* find_added(std::string_view impl) {
  const auto found = std::ranges::find(added_plugins(), impl, [](const Added& added) { return added.plugin.name; });
  return found == added_plugins().end() ? nullptr : &*found;
}

void refuse_taken_name(const Plugin& plugin) {
  const char* const remedy = is_python_function(plugin.path)  ? "give the function another name"
                             : is_kernel_package(plugin.path) ? "export it with another --name"
                                                              : "give it another name in its description";
  if (const Added* const other = find_added(plugin.name)) {
    throw UsageError{fmt::format("its name '{}' is that of {} too: {}", plugin.name, other->plugin.path, remedy)};
  }
  for (const PluginFamily& family : plugin_families()) {
    const std::vector<std::string> names = family.impl_names();
    if (std::ranges::find(names, plugin.name) == names.end()) continue;
    throw UsageError{fmt::format("its name '{}' is that of a built-in implementation: {}", plugin.name, remedy)};
  }
}

/// Returns whether the plug-in consists of packages: it is a package file, or a Python function that was compiled into
/// packages.
bool has_packages(const Plugin& plugin) { return is_kernel_package(plugin.path) || is_python_function(plugin.path); }

/// Returns the files from which a plug-in's code is loaded.
std::span<const Plugin> files_of(const Plugin& plugin) {
  return is_python_function(plugin.path) ? std::span{plugin.packages} : std::span{&plugin, 1};
}

/// Returns the plug-in for a case. Throws if its files have changed: a loaded library cannot change, but each case
/// loads a package's graphs again.
Added& added_for_case(std::string_view impl, DeviceKind device) {
  Added* const added = find_added(impl);
  if (added == nullptr) throw std::out_of_range{fmt::format("impl:{} comes from no plug-in", impl)};
  if (added->library != nullptr) return *added;
  for (const Plugin& file : files_of(added->plugin)) {
    if (digest_of_file(file.path) == file.digest) continue;
    throw std::runtime_error{fmt::format("{} has changed since the run began: start the run again", file.path)};
  }
  if (device == DeviceKind::kCuda) note_persisting_l2_bytes();
  return *added;
}

}  // namespace

bool is_python_function(std::string_view path) { return path.find(kPythonFunction) != std::string_view::npos; }

std::string file_of_plugin(std::string_view path) {
  const std::size_t colon = path.find(kPythonFunction) + kPythonFunction.size() - 1;
  return std::string{is_python_function(path) ? path.substr(0, colon) : path};
}

Plugin describe_plugin(const std::string& path, DeviceKind device) {
  Plugin plugin{.path = path, .name = {}, .digest = digest_of_file(path), .parts = {}};
  if (is_kernel_package(path)) {
    KernelPackage package = read_kernel_package(path, device);
    require_plugin_name(package.name.c_str());
    plugin.name = std::move(package.name);
    plugin.parts = {std::move(package.part)};
    return plugin;
  }
  const tbench_plugin_description& library = open_plugin_library(path);
  plugin.name = library.name;
  for (const PluginFamily& family : plugin_families()) {
    std::ranges::move(family.joined(library), std::back_inserter(plugin.parts));
  }
  if (plugin.parts.empty()) throw UsageError{"it joins no family: set one of attention, gemm and kernel"};
  return plugin;
}

void add_plugin(const Plugin& plugin) {
  refuse_taken_name(plugin);
  added_plugins().push_back({.plugin = plugin, .library = nullptr, .packages = {}});
  for (const std::string& part : plugin.parts) {
    const auto family = std::ranges::find_if(plugin_families(), [&](const PluginFamily& f) { return f.owns(part); });
    if (family == plugin_families().end()) throw UsageError{fmt::format("plug-ins join no '{}'", part)};
    (has_packages(plugin) ? family->add_package : family->add)(plugin.name, part);
  }
}

void complete_plugin(const Plugin& plugin) {
  Added* const added = find_added(plugin.name);
  if (added == nullptr) throw std::out_of_range{fmt::format("impl:{} comes from no plug-in", plugin.name)};
  added->plugin = plugin;
}

const Plugin* find_plugin(std::string_view impl) {
  const Added* const added = find_added(impl);
  return added == nullptr ? nullptr : &added->plugin;
}

const tbench_plugin_description& library_of(std::string_view impl, DeviceKind device) {
  Added& added = added_for_case(impl, device);
  if (added.library == nullptr) added.library = &open_plugin_library(added.plugin.path);
  return *added.library;
}

const KernelPackage& package_of(std::string_view impl, DeviceKind device, const PackageQuestion& question) {
  Added& added = added_for_case(impl, device);
  if (added.packages.empty()) {
    for (const Plugin& file : files_of(added.plugin)) added.packages.push_back(read_kernel_package(file.path, device));
  }
  const auto serves = [&](const KernelPackage& package) { return !package_refusal(package, question); };
  const auto found = std::ranges::find_if(added.packages, serves);
  if (found != added.packages.end()) return *found;
  if (!added.plugin.fault.empty()) throw std::runtime_error{added.plugin.fault};
  if (added.packages.empty()) {
    throw std::runtime_error{fmt::format("{} was exported for no case of this run: start the run again", impl)};
  }
  return added.packages.front();
}

}  // namespace tbench::model

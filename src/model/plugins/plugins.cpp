#include "tbench/model/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <stdexcept>

#include "model/plugins/library.hpp"
#include "model/plugins/package.hpp"
#include "model/plugins/plugin_family.hpp"
#include "model/torch/output_checker.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

const auto& plugin_families() {
  static const std::array families{attention_plugin_family(), gemm_plugin_family(), kernel_plugin_family()};
  return families;
}

struct Added {
  Plugin plugin;
  // Once a case has asked for it, one of them.
  const tbench_plugin_description* library{};
  std::optional<KernelPackage> package;
};

/// The plug-ins that were added. Pointers to them stay valid.
std::deque<Added>& added_plugins() {
  static std::deque<Added> plugins;
  return plugins;
}

Added* find_added(std::string_view impl) {
  const auto found = std::ranges::find(added_plugins(), impl, [](const Added& added) { return added.plugin.name; });
  return found == added_plugins().end() ? nullptr : &*found;
}

void refuse_taken_name(const Plugin& plugin) {
  const char* const remedy =
      is_kernel_package(plugin.path) ? "export it with another --name" : "give it another name in its description";
  if (const Added* const other = find_added(plugin.name)) {
    throw UsageError{fmt::format("its name '{}' is that of {} too: {}", plugin.name, other->plugin.path, remedy)};
  }
  for (const PluginFamily& family : plugin_families()) {
    const std::vector<std::string> names = family.impl_names();
    if (std::ranges::find(names, plugin.name) == names.end()) continue;
    throw UsageError{fmt::format("its name '{}' is that of a built-in implementation: {}", plugin.name, remedy)};
  }
}

/// For a case: the plug-in, unless it has changed. A library that is loaded cannot; of a package each case loads
/// graphs.
Added& added_for_case(std::string_view impl, DeviceKind device) {
  Added* const added = find_added(impl);
  if (added == nullptr) throw std::out_of_range{fmt::format("impl:{} comes from no plug-in", impl)};
  if (added->library != nullptr) return *added;
  const Plugin& plugin = added->plugin;
  if (digest_of_file(plugin.path) != plugin.digest) {
    throw std::runtime_error{fmt::format("{} has changed since the run began: start the run again", plugin.path)};
  }
  if (device == DeviceKind::kCuda) note_persisting_l2_bytes();
  return *added;
}

}  // namespace

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
  added_plugins().push_back({.plugin = plugin, .library = nullptr, .package = {}});
  for (const std::string& part : plugin.parts) {
    const auto family = std::ranges::find_if(plugin_families(), [&](const PluginFamily& f) { return f.owns(part); });
    if (family == plugin_families().end()) throw UsageError{fmt::format("plug-ins join no '{}'", part)};
    (is_kernel_package(plugin.path) ? family->add_package : family->add)(plugin.name, part);
  }
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

const KernelPackage& package_of(std::string_view impl, DeviceKind device) {
  Added& added = added_for_case(impl, device);
  if (!added.package) added.package = read_kernel_package(added.plugin.path, device);
  return *added.package;
}

}  // namespace tbench::model

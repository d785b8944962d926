// A family that plug-ins join: what a library's description has for it, and how that, or a package, becomes an
// implementation. A new one is a struct of functions in include/tbench/plugin.h, two files in this folder and a line in
// plugins.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/model/device.hpp"
#include "tbench/plugin.h"

namespace tbench::model {

struct KernelPackage;
struct PackageQuestion;

struct PluginFamily {
  /// Parts that the library joins, as Plugin::parts has them; none if it does not join the family.
  /// @throws  UsageError  if a function that must be there is null
  std::vector<std::string> (*joined)(const tbench_plugin_description& library);
  /// All implementations of the family.
  std::vector<std::string> (*impl_names)();
  /// Whether `part` is of this family.
  bool (*owns)(std::string_view part);
  /// Adds the implementation `name` of one of its parts, from a library or from a package.
  /// @throws  UsageError  if the family has no such part
  void (*add)(const std::string& name, std::string_view part);
  void (*add_package)(const std::string& name, std::string_view part);
};

[[nodiscard]] PluginFamily attention_plugin_family();
[[nodiscard]] PluginFamily gemm_plugin_family();
[[nodiscard]] PluginFamily kernel_plugin_family();

/// The description of the library that an implementation comes from. Loads the library at the first call.
/// @param device  of the case that asks
/// @throws        std::runtime_error  if the library is not what it was when it was described; std::out_of_range if
///                                    the implementation comes from none
[[nodiscard]] const tbench_plugin_description& library_of(std::string_view impl, DeviceKind device);

/// The same of an implementation that comes from packages: the first that can compute it, else the first of all.
/// @throws  std::runtime_error  too if none can and the plug-in has a fault
[[nodiscard]] const KernelPackage& package_of(std::string_view impl, DeviceKind device,
                                              const PackageQuestion& question);

}  // namespace tbench::model

// A family that plug-ins can join: the part of a library's description that concerns it, and how a library or a package
// becomes an implementation. A new family is a struct of functions in include/tbench/plugin.h, two files in this folder
// and a line in plugins.cpp.
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
  /// Returns the parts that the library joins, in the notation of Plugin::parts; empty if it does not join the family.
  /// @throws  UsageError  if a required function is null
  std::vector<std::string> (*joined)(const tbench_plugin_description& library);
  /// Returns the names of all implementations of the family.
  std::vector<std::string> (*impl_names)();
  /// Returns whether `part` belongs to this family.
  bool (*owns)(std::string_view part);
  /// Adds the implementation `name` of one of the family's parts, from a library or from a package.
  /// @throws  UsageError  if the family has no such part
  void (*add)(const std::string& name, std::string_view part);
  void (*add_package)(const std::string& name, std::string_view part);
};

[[nodiscard]] PluginFamily attention_plugin_family();
[[nodiscard]] PluginFamily gemm_plugin_family();
[[nodiscard]] PluginFamily kernel_plugin_family();

/// Returns the description of the library that provides an implementation. Loads the library at the first call.
/// @param device  device of the case that asks
/// @throws        std::runtime_error  if the library has changed since it was described; std::out_of_range if no
///                library provides the implementation
[[nodiscard]] const tbench_plugin_description& library_of(std::string_view impl, DeviceKind device);

/// Returns the package of an implementation that comes from packages: the first package that supports the question, or
/// the first of all if none does.
/// @throws  std::runtime_error  if a package has changed since it was described; also if none supports the question and
///          the plug-in has a fault or no packages
[[nodiscard]] const KernelPackage& package_of(std::string_view impl, DeviceKind device,
                                              const PackageQuestion& question);

}  // namespace tbench::model

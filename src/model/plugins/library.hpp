// A plug-in's shared library: opening it, and checking it against include/tbench/plugin.h as far as is possible without
// running a case.
#pragma once

#include <string>

#include "tbench/plugin.h"

namespace tbench::model {

/// Checks a plug-in's name.
/// @param name  name to check; may be null
/// @throws      UsageError  if it cannot be a value of `impl`
void require_plugin_name(const char* name);

/// Opens the library permanently, calls tbench_plugin() and checks the version, the name and that it joins at least one
/// family.
/// @throws  UsageError  with the fault
[[nodiscard]] const tbench_plugin_description& open_plugin_library(const std::string& path);

}  // namespace tbench::model

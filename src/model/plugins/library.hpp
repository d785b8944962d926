// A plug-in's shared library: opened, and held against include/tbench/plugin.h as far as that can be seen without
// running a case.
#pragma once

#include <string>

#include "tbench/plugin.h"

namespace tbench::model {

/// @param name  may be null
/// @throws      UsageError  unless it can be a value of `impl`
void require_plugin_name(const char* name);

/// Opens the library for good, calls tbench_plugin() and checks the version, the name and that it joins something.
/// @throws  UsageError  that says what is wrong
[[nodiscard]] const tbench_plugin_description& open_plugin_library(const std::string& path);

}  // namespace tbench::model

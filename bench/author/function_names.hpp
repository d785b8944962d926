// Checks before a run that the Python files of --tb_plugin define their functions.
#pragma once

#include <span>

#include "tbench/model/plugins.hpp"

namespace tbench::bench {

/// Checks each Python function without running its file. A file that may define other names while it is imported, and
/// all files if there is no Python, are left to the export.
/// @throws  UsageError  naming the plug-in, for a file without the function, with the nearest name, or a file that is
///                      not Python
void check_functions(std::span<const model::Plugin> plugins);

}  // namespace tbench::bench

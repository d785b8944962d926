// The files that the path of a kernel author needs besides this program: tools of the checkout or of the installed
// prefix, the Python that has this program's PyTorch, and the folder of packages.
#pragma once

#include <optional>
#include <string>

namespace tbench::bench {

/// Returns tools/export_kernel.py of the checkout or of the prefix; nothing where it is not there.
[[nodiscard]] std::optional<std::string> find_export_tool();

/// Returns `tbench` next to this program, or in the same build.
[[nodiscard]] std::optional<std::string> find_tbench();

/// Returns the Python of the environment that LibTorch was loaded from, else `python3` of PATH.
[[nodiscard]] std::string find_python();

/// Makes the folder of packages, `$XDG_CACHE_HOME/transformer_bench`, by default of `~/.cache`.
/// @throws  std::runtime_error  if it cannot be made, with the remedy
[[nodiscard]] std::string package_cache();

}  // namespace tbench::bench

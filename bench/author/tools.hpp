// The files besides this program that a kernel author needs: tools of the checkout or of the installed prefix, a Python
// with this program's PyTorch, and the folder of packages.
#pragma once

#include <optional>
#include <string>

namespace tbench::bench {

/// Returns the path of a file of tools/ in the checkout or in the prefix; nullopt if absent.
[[nodiscard]] std::optional<std::string> find_tool(const std::string& name);

/// Returns the path of `tbench` next to this program or in the same build; nullopt if absent.
[[nodiscard]] std::optional<std::string> find_tbench();

/// Returns the Python of the environment that LibTorch was loaded from, or `python3` of PATH if there is no such
/// environment.
[[nodiscard]] std::string find_python();

/// Makes and returns the folder of packages, `$XDG_CACHE_HOME/transformer_bench`, by default under `~/.cache`.
/// @throws  std::runtime_error  with a remedy, if the folder cannot be made
[[nodiscard]] std::string package_cache();

}  // namespace tbench::bench

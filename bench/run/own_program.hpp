// The path of this process's own program, from which child processes are started.
#pragma once

#include <string>

namespace tbench::bench {

/// The file that this process executes, valid even if the file was renamed or replaced; children are started from it.
inline constexpr const char* kOwnExecutable = "/proc/self/exe";
/// Returns the path that this file had when the process began, for messages and process lists.
[[nodiscard]] std::string own_program();

}  // namespace tbench::bench

// The program that this process runs, for children of it.
#pragma once

#include <string>

namespace tbench::bench {

/// The file that this process executes, whatever has become of its name meanwhile: children are started from it.
inline constexpr const char* kOwnExecutable = "/proc/self/exe";
/// The path of that file when the process began, for messages and for lists of processes.
[[nodiscard]] std::string own_program();

}  // namespace tbench::bench

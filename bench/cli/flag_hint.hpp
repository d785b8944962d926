// The error message for arguments that are not flags of the program.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tbench::bench {

/// Returns the message for arguments that are not flags of the program. It suggests what the user most likely meant:
/// our name of another program's flag (`-o`), the filter for a key or a family (`--precision=bf16`, `Attention`), or
/// the flag with the nearest name.
/// @param unknown  arguments that were not understood, in their order; not empty
/// @param flags    the program's flags, with their dashes
[[nodiscard]] std::string unknown_argument_message(std::span<const std::string> unknown,
                                                   const std::vector<std::string>& flags);

}  // namespace tbench::bench

// Replaces a named file with an unnamed one.
#pragma once

#include <string>

namespace tbench::process {

/// Links `file` as `name`, and renames `name` to `target`, which it replaces. The kernel has no single call for this.
/// A process of its own makes both calls, so that no `name` is left behind if this process is killed in between.
/// @param file    e.g. `/proc/self/fd/3`, whose link is followed
/// @param name    path in the folder of `target`; must not exist
/// @return        0, or errno of the call that failed (EEXIST: `name` exists); no new `name` is then left
[[nodiscard]] int link_over(const std::string& file, const std::string& name, const std::string& target);

}  // namespace tbench::process

// Replaces a named file with an unnamed one.
#pragma once

#include <string>

namespace tbench::process {

/// Links `file` as `name`, and renames `name` to `target`, which it replaces. The kernel has no single call for this:
/// a process of its own makes both, so that no `name` is left behind if this process is killed in between.
/// @param file    e.g. `/proc/self/fd/3`, whose link is followed
/// @param name    in the folder of `target`; must not exist
/// @return        0, or errno of what failed (EEXIST: the name exists); there is then no `name`
[[nodiscard]] int link_over(const std::string& file, const std::string& name, const std::string& target);

}  // namespace tbench::process

// The processes below this one: which are its own, which a worker or a command has left to it, and what they hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace tbench::process {

/// Returns the children of all threads of a process; empty if it has ended.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// Bytes of memory that a process and everything below it hold, which no file has: what they share counts for each.
[[nodiscard]] std::int64_t held_bytes(pid_t root);

/// Makes this process the parent of whatever its descendants leave behind, and takes the children that it has already,
/// the first time, for its own.
void adopt_orphans();

/// Holds end_orphans() off between the start of a child and add_own_child().
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// Makes `pid` from now on a child that this process ends and reaps itself.
/// @param lock  the lock of lock_children(), taken before the child was started
void add_own_child(pid_t pid, const std::unique_lock<std::mutex>& lock);
/// Unregisters a child once it is reaped or given up.
void remove_own_child(pid_t pid);

/// Kills and reaps every child that is not its own: what descendants have left behind, and what is below that, for at
/// most a second.
void end_orphans();

}  // namespace tbench::process

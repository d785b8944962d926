// The descendants of this process: its own children, the orphans of workers and commands, and the memory that they
// hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace tbench::process {

/// Returns the children of all threads of a process; empty if it has ended.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// Returns the bytes of memory without a file behind it that a process and its descendants hold. Memory that several of
/// them share counts once for each of these processes.
[[nodiscard]] std::int64_t held_bytes(pid_t root);

/// Makes this process the parent of the orphans of its descendants. The first call registers the children that it has
/// already as its own.
void adopt_orphans();

/// Locks end_orphans() out from before the start of a child until add_own_child().
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// Registers `pid` as a child that this process ends and reaps itself.
/// @param lock  the lock of lock_children(), taken before the child was started
void add_own_child(pid_t pid, const std::unique_lock<std::mutex>& lock);
/// Unregisters a child that is reaped or abandoned.
void remove_own_child(pid_t pid);

/// Kills and reaps every child that is not registered as its own, that is orphans and their descendants, for at most a
/// second.
void end_orphans();

}  // namespace tbench::process

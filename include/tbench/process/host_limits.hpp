// The share of its host that the kernel lets this process use: its CPU affinity, and the limits of its control groups
// (versions 1 and 2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "tbench/core/environment.hpp"

namespace tbench::process {

/// Returns CPUs as Linux lists them: "0-3,8" for 0, 1, 2, 3 and 8.
/// @param cpus  in ascending order
[[nodiscard]] std::string cpu_list(std::span<const int> cpus);

/// Returns the CPU time per wall-clock time that the control groups allow, or nullopt if they do not limit it.
/// @param root  root of the file system, with /proc/self and /sys/fs/cgroup
[[nodiscard]] std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// Returns the bytes of memory that the process may hold: all of the machine's memory, or less if its control groups
/// limit it. Returns nullopt if neither is known.
[[nodiscard]] std::optional<std::int64_t> memory_limit(const std::filesystem::path& root = "/");

/// Returns the affinity of the calling thread and cpu_quota(), or nullopt if the kernel does not report the affinity.
[[nodiscard]] std::optional<CpuLimits> read_cpu_limits();

}  // namespace tbench::process

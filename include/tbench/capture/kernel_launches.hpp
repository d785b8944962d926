// The kernels that this process launches, by name, as CUPTI reports them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbench::capture {

struct KernelLaunch {
  std::string name;  // as profile::kernel_name() returns it
  std::int64_t count{};
  bool operator==(const KernelLaunch&) const = default;
};

/// Records the kernels that all threads of this process launch between start() and stop(), counting all instantiations
/// of a template as one kernel. Kernels inside a CUDA graph are left out. CUPTI serves one recorder at a time: the
/// constructor attaches CUPTI, which takes milliseconds, and the destructor releases it.
class KernelLaunches {
 public:
  /// Attaches CUPTI.
  /// @throws  std::runtime_error  if CUPTI refuses, e.g. because a profiler is using it
  KernelLaunches();
  ~KernelLaunches();
  KernelLaunches(const KernelLaunches&) = delete;
  KernelLaunches& operator=(const KernelLaunches&) = delete;

  /// Starts recording.
  /// @throws  std::runtime_error  if CUPTI fails
  void start();
  void stop();

  /// Returns the launches since the last call, in the order in which each kernel was first launched.
  [[nodiscard]] std::vector<KernelLaunch> take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::capture

// Which kernels this process launches, by name, told by CUPTI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbench::capture {

struct KernelLaunch {
  std::string name;  // see profile::kernel_name
  std::int64_t count{};
  bool operator==(const KernelLaunch&) const = default;
};

/// Records the kernels that all threads of this process launch between start() and stop(), with all instantiations of
/// one template as one kernel. Kernels inside a CUDA graph are left out. CUPTI serves one recorder at a time: it is
/// attached by the constructor, which takes milliseconds, and let go by the destructor.
class KernelLaunches {
 public:
  /// @throws  std::runtime_error  if CUPTI refuses: another tool (a profiler) is using it, say
  KernelLaunches();
  ~KernelLaunches();
  KernelLaunches(const KernelLaunches&) = delete;
  KernelLaunches& operator=(const KernelLaunches&) = delete;

  /// @throws  std::runtime_error  if CUPTI fails
  void start();
  void stop();

  /// Returns the launches since the last call, in the order of the first launches.
  [[nodiscard]] std::vector<KernelLaunch> take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbench::capture

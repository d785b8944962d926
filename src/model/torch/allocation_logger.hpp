// Logs the allocations and deallocations of LibTorch's allocators.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Logs each block that this thread, and autograd on its behalf, allocates or frees on one device, with the open ranges
/// and the running operator. Uses the hook of PyTorch's profiler, so do not profile meanwhile. Construct and destroy
/// the object on one thread, outside of any range.
class AllocationLogger {
 public:
  /// Starts logging.
  /// @param allocated  current bytes in live blocks
  AllocationLogger(c10::Device device, std::int64_t allocated);
  ~AllocationLogger();
  AllocationLogger(const AllocationLogger&) = delete;
  AllocationLogger& operator=(const AllocationLogger&) = delete;

  [[nodiscard]] std::size_t events() const;
  [[nodiscard]] AllocationLog take();

 private:
  class Reporter;
  class OperationListener;
  std::shared_ptr<Reporter> reporter_;
  c10::DebugInfoGuard guard_;
  std::unique_ptr<OperationListener> operations_;
};

}  // namespace tbench::model

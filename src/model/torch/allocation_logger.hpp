// Logs what LibTorch's allocators give out and take back.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Logs the blocks of one device's allocator that this thread, and autograd for it, allocates and frees, with the
/// ranges that are open and the operator that runs. Through the hook of PyTorch's profiler: do not profile meanwhile.
/// Make and end it on one thread, outside of any range.
class AllocationLogger {
 public:
  /// @param allocated  bytes in live blocks now
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

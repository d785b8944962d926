// How the measuring code asks an allocator for peaks without knowing whose allocator it is.
#pragma once

#include <cstdint>

namespace tbench {

struct MemoryPeaks {
  std::int64_t allocated{};  // bytes in live allocations, peak since reset_peaks()
  std::int64_t reserved{};   // bytes the allocator holds from the device, peak since reset_peaks()
};

class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  /// Gives every cached block back to the device, library workspaces too. Synchronises.
  virtual void release_cached() = 0;
  virtual void reset_peaks() = 0;
  [[nodiscard]] virtual MemoryPeaks peaks() const = 0;
  /// Bytes in live allocations now.
  [[nodiscard]] virtual std::int64_t allocated_now() const = 0;
};

}  // namespace tbench

// The interfaces through which the measuring code sees a benchmark family. A case says whether it is supported, checks
// itself and runs one step. A probe gives access to the allocator that the case uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/work.hpp"

namespace tbench {

/// Marks the end of a phase inside a timed step. Costs one event record; never synchronises.
class PhaseMarker {
 public:
  virtual ~PhaseMarker() = default;
  virtual void mark() = 0;
};

/// Checks the timed launches of a step that the project did not write: the very launches that are timed are checked.
/// The calls themselves are not timed. On a GPU all functions except verdict() enqueue on the timed stream and never
/// synchronise. A launch on another stream is therefore found: it reads its operands too early, or writes its output
/// too late for after().
class LaunchChecker {
 public:
  virtual ~LaunchChecker() = default;
  /// Forgets the launches so far. The launches that follow are timed for the record.
  virtual void begin() = 0;
  /// Draws new values for all inputs of the next launch, and fills its outputs with NaN. On a GPU this runs after the
  /// spin that hides the launch, and before the flush of the L2 cache.
  virtual void redraw() = 0;
  /// Redraws a few of the inputs right before the launch, so that a result computed during the flush is wrong.
  virtual void perturb() = 0;
  /// Inspects the outputs of the launch.
  virtual void after() = 0;
  /// Returns whether the launches sampled since begin() computed the right outputs for the inputs they read. Releases
  /// the data that after() kept. Synchronises.
  [[nodiscard]] virtual Verification verdict() = 0;
};

class Case {
 public:
  virtual ~Case() = default;

  /// Returns why this case cannot run on this machine, or nullopt if it can. Cheap: called before build().
  [[nodiscard]] virtual std::optional<std::string> unsupported_reason() const = 0;
  /// Returns a lower bound of the case's peak device memory in bytes; 0 if unknown. --tb_skip_oversize uses it.
  [[nodiscard]] virtual std::int64_t min_bytes() const { return 0; }
  /// Allocates and fills the buffers that the steps need. Throws OutOfMemory.
  virtual void build() = 0;
  /// Runs the step that will be timed and compares its output with a reference in higher precision. Synchronises.
  [[nodiscard]] virtual Verification verify() = 0;
  /// Returns whether verify() runs after the timing, and may call build() again: true if the first steps are timed.
  [[nodiscard]] virtual bool verifies_last() const { return false; }
  /// Repeats verify() on other data after the case was timed. It finds implementations that were right only for the
  /// first data or only in the first steps. Returns nullopt if the case has no second check. Leaves the case as build()
  /// made it. Synchronises.
  [[nodiscard]] virtual std::optional<Verification> verify_again() { return std::nullopt; }
  /// Returns the checker of the timed launches, or null if the step is the project's own. Valid after build(), for
  /// cases that are timed in bursts.
  [[nodiscard]] virtual LaunchChecker* launch_checker() { return nullptr; }
  /// Names of the phases of a step, in order; at least one.
  [[nodiscard]] virtual std::span<const std::string_view> phases() const = 0;
  /// Enqueues one step and calls `marker.mark()` at the end of each phase, phases().size() times. Never synchronises
  /// the device with the host.
  virtual void launch(PhaseMarker& marker) = 0;
  /// Discards the recorded CUDA graph, so that the next step records again and can be inspected. That step may
  /// synchronise.
  /// @return  whether the case records its steps
  virtual bool discard_recording() { return false; }
  [[nodiscard]] virtual Work work() const = 0;
  /// Returns the tensors that the case holds now. The memory pass calls it when a step is enqueued and, inside
  /// launch(), at the end of each phase. Never synchronises. If the list is empty, the record has no MemoryUse::split.
  [[nodiscard]] virtual std::vector<LiveTensor> live_tensors() const { return {}; }
  /// Returns the family's own counters. Called after sampling. May synchronise.
  [[nodiscard]] virtual std::map<std::string, double> counters() = 0;
  /// Returns the counters that are final after build(). Called right after build(); a case that runs out of memory
  /// later has these counters alone.
  [[nodiscard]] virtual std::map<std::string, double> build_counters() { return {}; }
  /// Returns Record::labels. Called together with counters(). May synchronise.
  [[nodiscard]] virtual std::map<std::string, std::string> labels() { return {}; }
};

struct MemoryPeaks {
  std::int64_t allocated{};  // bytes in the blocks of live allocations, peak since reset_peaks()
  std::int64_t requested{};  // bytes requested by live allocations, peak since reset_peaks(); blocks round them up
  std::int64_t reserved{};   // bytes the allocator holds from the device, peak since reset_peaks()
};

/// The peaks and the log of an allocator, for code that does not depend on the allocator's type.
class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  /// Returns every cached block to the device, including library workspaces. Synchronises.
  virtual void release_cached() = 0;
  virtual void reset_peaks() = 0;
  [[nodiscard]] virtual MemoryPeaks peaks() const = 0;
  /// Returns the bytes in live allocations now.
  [[nodiscard]] virtual std::int64_t allocated_now() const = 0;
  /// Starts a log of this thread's allocations and releases, with the ranges open at each (cuda/range.hpp). Costs the
  /// host about 0.1 us per allocation.
  virtual void start_log() = 0;
  /// Returns the number of events since start_log().
  [[nodiscard]] virtual std::size_t logged_events() const = 0;
  /// Ends the log and returns it; returns an empty log if none was started.
  virtual AllocationLog stop_log() = 0;
};

}  // namespace tbench

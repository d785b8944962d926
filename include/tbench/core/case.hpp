// The interfaces through which the measuring code sees a benchmark family: one case, able to say whether it can run, to
// check itself and to run one step; and the peaks of the allocator that it uses.
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

/// Watches the timed launches of a step that the project did not write, so that what is timed is what is checked. All
/// calls but verdict() lie outside what is timed. On a GPU they enqueue on the stream that is timed and never
/// synchronise: a launch that does not wait for that stream reads its operands too early, and one that the stream does
/// not wait for writes too late for after().
class LaunchChecker {
 public:
  virtual ~LaunchChecker() = default;
  /// Forgets the launches so far: those that follow are timed for the record.
  virtual void begin() = 0;
  /// Gives everything that the next launch reads new values, and fills what it writes with NaN. On a GPU behind the
  /// spin that hides the launch, and before the flush of the L2 cache.
  virtual void redraw() = 0;
  /// Draws a little of what the launch reads once more, right before the launch: what was computed while a flush went
  /// on is wrong.
  virtual void perturb() = 0;
  /// Looks at what the launch has written.
  virtual void after() = 0;
  /// Whether the launches since begin() that were drawn for a comparison are right for what those have read. Releases
  /// what after() has kept. Synchronises.
  [[nodiscard]] virtual Verification verdict() = 0;
};

class Case {
 public:
  virtual ~Case() = default;

  /// Why this case cannot run on this machine, or nothing. Cheap: called before build().
  [[nodiscard]] virtual std::optional<std::string> unsupported_reason() const = 0;
  /// Bytes of device memory that the case holds at once at the very least; 0 if unknown. For --tb_skip_oversize.
  [[nodiscard]] virtual std::int64_t min_bytes() const { return 0; }
  /// Allocates and fills whatever the steps need. Throws OutOfMemory.
  virtual void build() = 0;
  /// Runs the step that will be timed and compares its output with a reference in higher precision. Synchronises.
  [[nodiscard]] virtual Verification verify() = 0;
  /// Whether verify() comes after the timing and may build() anew: for a case whose first steps are what is timed.
  [[nodiscard]] virtual bool verifies_last() const { return false; }
  /// The same check on other data, once the case was timed: what worked for the first data, or only until the steps
  /// settled, is found. Nothing if the case does not do that. Leaves the case as build() made it. Synchronises.
  [[nodiscard]] virtual std::optional<Verification> verify_again() { return std::nullopt; }
  /// Returns the checker that watches the timed launches, once the case was built; null where the step is the project's
  /// own. For cases that are timed in bursts.
  [[nodiscard]] virtual LaunchChecker* launch_checker() { return nullptr; }
  /// Names of the phases of a step, in order; at least one.
  [[nodiscard]] virtual std::span<const std::string_view> phases() const = 0;
  /// Enqueues one step and calls `marker.mark()` at the end of each phase, phases().size() times. Never synchronises
  /// the device with the host.
  virtual void launch(PhaseMarker& marker) = 0;
  /// Forgets what was recorded to be replayed, a CUDA graph: the next step records anew, where a recording step is to
  /// be looked at. That one may synchronise.
  /// @return  whether steps are recorded
  virtual bool discard_recording() { return false; }
  [[nodiscard]] virtual Work work() const = 0;
  /// Returns the tensors that the case holds now, for the memory pass: called when a step is enqueued and at the end of
  /// each of its phases, inside launch(). Never synchronises. May be empty: the record then has no MemoryUse::split.
  [[nodiscard]] virtual std::vector<LiveTensor> live_tensors() const { return {}; }
  /// The family's own counters, read after sampling. May synchronise.
  [[nodiscard]] virtual std::map<std::string, double> counters() = 0;
  /// Returns those counters that build() has settled. It is called right after build(), and gives all that is known of
  /// a case that then runs out of memory.
  [[nodiscard]] virtual std::map<std::string, double> build_counters() { return {}; }
  /// Record::labels, read when the counters are. May synchronise.
  [[nodiscard]] virtual std::map<std::string, std::string> labels() { return {}; }
};

struct MemoryPeaks {
  std::int64_t allocated{};  // bytes in the blocks of live allocations, peak since reset_peaks()
  std::int64_t requested{};  // bytes that those asked for, peak since reset_peaks(); blocks round them up
  std::int64_t reserved{};   // bytes the allocator holds from the device, peak since reset_peaks()
};

/// An allocator's peaks and its log, for code that does not know whose allocator it is.
class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  /// Gives every cached block back to the device, library workspaces too. Synchronises.
  virtual void release_cached() = 0;
  virtual void reset_peaks() = 0;
  [[nodiscard]] virtual MemoryPeaks peaks() const = 0;
  /// Bytes in live allocations now.
  [[nodiscard]] virtual std::int64_t allocated_now() const = 0;
  /// Logs what this thread allocates and frees from now on, with the ranges that are open (cuda/range.hpp). Costs the
  /// host some 0.1 us an allocation.
  virtual void start_log() = 0;
  /// Events since start_log().
  [[nodiscard]] virtual std::size_t logged_events() const = 0;
  /// Ends the log; an empty one if none was started.
  virtual AllocationLog stop_log() = 0;
};

}  // namespace tbench

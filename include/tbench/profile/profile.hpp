// Computes the figures of a trace that all tables share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// Count, total and distribution of durations.
class Durations {
 public:
  void add(std::int64_t duration_ns);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }
  [[nodiscard]] std::int64_t min_ns() const { return min_ns_; }
  [[nodiscard]] std::int64_t max_ns() const { return max_ns_; }
  /// Returns the mean, or 0 without durations.
  [[nodiscard]] double mean_ns() const;
  /// Returns the sample standard deviation (with n - 1, like nsys), or 0 for fewer than two durations.
  [[nodiscard]] double std_ns() const;

 private:
  std::int64_t count_{};
  std::int64_t total_ns_{};
  std::int64_t min_ns_{};
  std::int64_t max_ns_{};
  double running_mean_ns_{};
  double squares_{};  // sum of squared distances from the mean (Welford)
};

/// The time in which a device was idle. A gap counts as the host's if the queue was empty: the call that launched the
/// next operation began only after the previous operation had ended. A gap counts as the device's if that call had
/// already begun: the operation was on its way, or waited for another stream. A gap counts as neither's if no operation
/// follows, or if the next operation has no call.
struct Gaps {
  std::int64_t host_ns{};
  std::int64_t device_ns{};
  std::int64_t other_ns{};
  std::int64_t longest_ns{};
  std::int64_t count{};
  [[nodiscard]] std::int64_t total_ns() const { return host_ns + device_ns + other_ns; }
  /// Adds the other gaps. `longest_ns` becomes the longer of the two.
  void add(const Gaps& others);
};

/// The figures of one device of one process, from the start of its first operation to the end of its last one.
struct DeviceTime {
  std::uint16_t process{};
  std::uint16_t device{};
  std::int64_t span_ns{};
  std::int64_t busy_ns{};  // union of the operations; busy_ns + gaps.total_ns() == span_ns
  Gaps gaps{};
  std::int64_t kernels{};
  std::int64_t launches{};  // calls that launched those kernels; the replay of a CUDA graph is one call

  /// Returns whether the host's gaps are over 5 % of the span.
  [[nodiscard]] bool host_bound() const;
  /// Returns the share of the span in which the device is idle, or 0 for an empty span.
  [[nodiscard]] double idle_share() const;
};

struct ApiTime {
  std::string name;
  Durations durations{};
};

struct CopyTime {
  std::string name;  // Memcpy HtoD, Memset
  std::int64_t count{};
  std::int64_t bytes{};
  std::int64_t total_ns{};
};

/// The figures of one phase of a step, for example of the ranges FORWARD.
struct PhaseTime {
  std::string name;
  std::int64_t operations{};
  std::int64_t operations_by_time{};  // as Profile::operations_by_time
  std::int64_t kernels{};
  std::int64_t launches{};
  std::int64_t kernel_ns{};  // sum of the kernels' times
  std::int64_t copy_ns{};    // sum of the times of copies and fills
  /// For each range of the phase, the interval from the start of its first operation on a device to the end of its last
  /// one. The span is the union of these intervals, summed over devices, and 0 for operations outside every phase.
  /// Nested ranges of the phase count as one, unless another phase works in between. All work of the device in the span
  /// counts, also the work of other phases: busy_ns + gaps.total_ns() == span_ns.
  std::int64_t span_ns{};
  std::int64_t busy_ns{};
  Gaps gaps{};
  std::int64_t outer_calls{};      // calls made in the phase, without those made inside another call
  std::int64_t calls_ns{};         // union of the calls' times, summed over threads
  std::vector<ApiTime> calls{};    // calls made in the phase, the longest first
  std::vector<CopyTime> copies{};  // the longest first
};

struct KernelTime {
  std::size_t phase{};  // index of Profile::phases
  std::string name;     // full name, with template arguments and parameters
  KernelClass kernel_class{};
  Durations durations{};
};

struct ClassTime {
  std::size_t phase{};
  KernelClass kernel_class{};
  std::int64_t operations{};
  std::int64_t total_ns{};
};

/// The figures of all ranges with the same label and the same outer ranges.
struct RangeTime {
  std::string label{};               // `layer.*` for `layer.0`, `layer.1`, ...
  std::size_t depth{};               // number of outer ranges
  std::size_t parent{};              // index of Profile::ranges; only if depth > 0
  Durations host{};                  // inclusive; one duration per range
  std::int64_t host_exclusive_ns{};  // excluding the ranges inside
  std::int64_t operations{};         // inclusive, as are all fields up to gpu_busy
  std::int64_t launches{};           // number of kernel launches
  std::int64_t gpu_span_ns{};  // sum over the ranges of the time from the first operation's start to the last one's end
  std::int64_t gpu_sum_ns{};
  Durations gpu_busy{};             // union of the range's operations; one duration per range with operations
  std::int64_t gpu_exclusive_ns{};  // sum of the times of operations outside inner ranges
  Gaps gaps{};                      // before the range's operations; inclusive
};

/// The time of one kernel, or of one kind of copy, in the ranges of a row and outside their inner ranges.
struct RangeKernelTime {
  std::optional<std::size_t> range{};  // index of Profile::ranges; nullopt if launched outside every range
  std::size_t phase{};                 // index of Profile::phases
  std::string name{};                  // full name, with template arguments and parameters
  OperationKind kind{};
  KernelClass kernel_class{};
  std::int64_t operations{};
  std::int64_t total_ns{};
};

/// A part of a range that is not a range itself. Its figures are inclusive.
struct DerivedRange {
  std::size_t of{};    // index in Profile::ranges of the range that has this part
  std::string name{};  // projections (attention.qkv, attention.out_proj); residual (layers without their inner ranges);
                       // not attention
  std::int64_t host_ns{};
  std::int64_t gpu_sum_ns{};
  std::int64_t operations{};
  std::int64_t launches{};
};

/// The time of the operations in attention.scores, attention.softmax and attention.context.
struct AttentionTime {
  std::size_t phase{};        // index of Profile::phases
  std::int64_t softmax_ns{};  // all of attention.softmax, and kernels of class softmax in the other two ranges
  std::int64_t scores_ns{};   // matrix products of attention.scores: Q K^T
  std::int64_t context_ns{};  // matrix products of attention.context: the weights times V
  std::int64_t other_ns{};    // scale, mask, casts, copies

  [[nodiscard]] std::int64_t matmul_ns() const { return scores_ns + context_ns; }
  [[nodiscard]] std::int64_t total_ns() const { return softmax_ns + matmul_ns() + other_ns; }
};

/// The name of the phase of all operations outside of every phase, in a trace that has phases.
inline constexpr std::string_view kNoPhase = "(no phase)";

struct Profile {
  std::vector<DeviceTime> devices;  // by process and number
  std::vector<PhaseTime> phases;    // in the order of their first start; last, kNoPhase for all other operations
  std::vector<KernelTime> kernels;  // by phase, the longest first
  std::vector<ClassTime> classes;   // by phase, the longest first
  std::vector<RangeTime> ranges;    // each range precedes the ranges inside it
  std::vector<RangeKernelTime> range_kernels;  // by range, the longest first; kernels outside every range come last
  std::vector<DerivedRange> derived_ranges;    // by range
  std::vector<AttentionTime> attention;        // by phase
  std::vector<ApiTime> calls;                  // the longest first
  std::vector<CopyTime> copies;                // the longest first
  std::int64_t operations{};
  std::int64_t operations_ns{};  // sum of the operations' times; shares are relative to it
  std::int64_t operations_without_launch{};
  std::int64_t operations_without_range{};
  std::int64_t operations_without_range_ns{};
  /// Operations launched by a thread outside its own ranges while a range of another thread was open. They count for
  /// the range of the other thread.
  std::int64_t operations_by_time{};
  std::int64_t operations_by_time_ns{};
  std::int64_t graph_replays{};  // CUDA graphs traced as a whole; their kernels are unknown

  [[nodiscard]] double share(std::int64_t time_ns) const;
  /// Returns the share of class `other` in the operations' time.
  [[nodiscard]] double other_share() const;
};

struct ProfileOptions {
  /// Names of the ranges that are phases. If empty, the phases are FORWARD, BACKWARD and OPTIMIZER, in upper or lower
  /// case. If the trace has none of these, the outermost ranges are phases, unless they have over eight labels.
  std::vector<std::string> phases;
};

/// Analyses a trace.
/// @throws  UsageError  for a phase without a range of that name
[[nodiscard]] Profile analyse(const Trace& trace, const KernelRules& rules, const ProfileOptions& options = {});

}  // namespace tbench::profile

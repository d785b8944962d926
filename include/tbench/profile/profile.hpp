// The figures of a trace that every table needs, before anybody prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  /// 0 for no calls.
  [[nodiscard]] double mean_ns() const;
  /// The standard deviation of the sample (n - 1), like nsys has it; 0 for fewer than two calls.
  [[nodiscard]] double std_ns() const;

 private:
  std::int64_t count_{};
  std::int64_t total_ns_{};
  std::int64_t min_ns_{};
  std::int64_t max_ns_{};
  double running_mean_ns_{};
  double squares_{};  // sum of squared distances from the mean (Welford)
};

/// Time in which a device did nothing. A gap is the host's where the queue was empty: the call that launched the next
/// operation began only after the operation before had ended. It is the device's where that call had begun: the
/// operation was on its way, or waited for another stream. It is neither's where nothing follows, or what follows has
/// no call.
struct Gaps {
  std::int64_t host_ns{};
  std::int64_t device_ns{};
  std::int64_t other_ns{};
  std::int64_t longest_ns{};
  std::int64_t count{};
  [[nodiscard]] std::int64_t total_ns() const { return host_ns + device_ns + other_ns; }
  /// The longest of both stays the longest.
  void add(const Gaps& others);
};

/// One device of one process, from the begin of its first operation to the end of its last.
struct DeviceTime {
  std::uint16_t process{};
  std::uint16_t device{};
  std::int64_t span_ns{};
  std::int64_t busy_ns{};  // union of the operations; busy_ns + gaps.total_ns() == span_ns
  Gaps gaps{};
  std::int64_t kernels{};
  std::int64_t launches{};  // calls that launched those kernels: the replay of a CUDA graph is one

  /// The host's gaps are over 5 % of the span.
  [[nodiscard]] bool host_bound() const;
  /// 0 of an empty span.
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

/// A part of a step by its ranges: FORWARD, say.
struct PhaseTime {
  std::string name;
  std::int64_t operations{};
  std::int64_t operations_by_time{};  // as Profile's
  std::int64_t kernels{};
  std::int64_t launches{};
  std::int64_t kernel_ns{};  // sums
  std::int64_t copy_ns{};    // copies and fills
  /// On each device from the begin of the first operation of one of the phase's ranges to the end of the last one: the
  /// union over ranges, added up over devices; 0 of operations outside of any phase. Ranges of the phase inside of one
  /// another are one, unless another phase works in between. What a device does meanwhile counts, whichever phase it is
  /// of: busy_ns + gaps.total_ns() == span_ns.
  std::int64_t span_ns{};
  std::int64_t busy_ns{};
  Gaps gaps{};
  std::vector<ApiTime> calls{};    // calls made in it, the longest first
  std::vector<CopyTime> copies{};  // the longest first
};

struct KernelTime {
  std::size_t phase{};  // index of Profile::phases
  std::string name;     // whole
  KernelClass kernel_class{};
  Durations durations{};
};

struct ClassTime {
  std::size_t phase{};
  KernelClass kernel_class{};
  std::int64_t operations{};
  std::int64_t total_ns{};
};

/// The ranges of one label in the same outer ranges.
struct RangeTime {
  std::string label{};               // `layer.*` for `layer.0`, `layer.1`, ...
  std::size_t depth{};               // outer ranges
  std::size_t parent{};              // index of Profile::ranges, where depth > 0
  Durations host{};                  // inclusive, a range each
  std::int64_t host_exclusive_ns{};  // excluding the ranges inside
  std::int64_t operations{};         // inclusive, as all up to gpu_busy
  std::int64_t launches{};           // number of kernel launches
  std::int64_t gpu_span_ns{};  // sum over the ranges of the time from the first operation's start to the last one's end
  std::int64_t gpu_sum_ns{};
  Durations gpu_busy{};             // the union of its operations, a range with operations each
  std::int64_t gpu_exclusive_ns{};  // sum of the operations that are in no range inside
};

/// The time of one kernel, or of one kind of copy, in the ranges of a row and in none inside of them.
struct RangeKernelTime {
  std::optional<std::size_t> range{};  // index of Profile::ranges; none: launched in no range
  std::size_t phase{};                 // index of Profile::phases
  std::string name{};                  // whole
  OperationKind kind{};
  KernelClass kernel_class{};
  std::int64_t operations{};
  std::int64_t total_ns{};
};

/// A part of a range that is no range itself. Its figures are inclusive.
struct DerivedRange {
  std::size_t of{};    // index of Profile::ranges: what it is a part of
  std::string name{};  // projections (attention.qkv, attention.out_proj); residual (layers without the ranges inside
                       // of them); not attention
  std::int64_t host_ns{};
  std::int64_t gpu_sum_ns{};
  std::int64_t operations{};
  std::int64_t launches{};
};

/// The operations in attention.scores, attention.softmax and attention.context.
struct AttentionTime {
  std::size_t phase{};        // index of Profile::phases
  std::int64_t softmax_ns{};  // all of attention.softmax, and kernels of class softmax in the others
  std::int64_t scores_ns{};   // matrix products of attention.scores: Q K^T
  std::int64_t context_ns{};  // matrix products of attention.context: weights V
  std::int64_t other_ns{};    // scale, mask, casts, copies

  [[nodiscard]] std::int64_t matmul_ns() const { return scores_ns + context_ns; }
  [[nodiscard]] std::int64_t total_ns() const { return softmax_ns + matmul_ns() + other_ns; }
};

struct Profile {
  std::vector<DeviceTime> devices;  // by process and number
  std::vector<PhaseTime> phases;    // as they first begin; operations outside of any in a last one, `(no phase)`
  std::vector<KernelTime> kernels;  // by phase, the longest first
  std::vector<ClassTime> classes;   // by phase, the longest first
  std::vector<RangeTime> ranges;    // a range before those inside of it
  std::vector<RangeKernelTime> range_kernels;  // by range, the longest first; those in no range last
  std::vector<DerivedRange> derived_ranges;    // by range
  std::vector<AttentionTime> attention;        // by phase
  std::vector<ApiTime> calls;                  // the longest first
  std::vector<CopyTime> copies;                // the longest first
  std::int64_t operations{};
  std::int64_t operations_ns{};  // their sum: what shares are of
  std::int64_t operations_without_launch{};
  std::int64_t operations_without_range{};
  std::int64_t operations_without_range_ns{};
  std::int64_t operations_by_time{};  // launched by a thread in none of its own ranges, while another one's was open
  std::int64_t operations_by_time_ns{};
  std::int64_t graph_replays{};  // traced as a whole: their kernels are not known

  [[nodiscard]] double share(std::int64_t time_ns) const;
  /// The share of operations of class `other`.
  [[nodiscard]] double other_share() const;
};

struct ProfileOptions {
  /// Names of ranges. Empty: FORWARD, BACKWARD and OPTIMIZER, in any case of letters; where there is none of them, the
  /// outermost ranges, if they have at most eight labels.
  std::vector<std::string> phases;
};

/// @throws  UsageError  for a phase that no range is named like
[[nodiscard]] Profile analyse(const Trace& trace, const KernelRules& rules, const ProfileOptions& options = {});

}  // namespace tbench::profile

// The ranges of a trace: their nesting and their figures, the phases among them, and the tables derived from their
// times.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

// The nesting of ranges, the range in which a call was made, and the figures of ranges: the host's times, and the times
// of the operations that were launched in them.

/// The innermost range around each range and around each call, on the same thread, which is the rule of nsys. An entry
/// is kNone if there is no such range. If two ranges are equal, the first in the trace contains the other. Ranges
/// inside more than 63 others become siblings inside the 63rd range.
struct RangeTree {
  std::vector<Index> parent_of_range;
  std::vector<Index> range_of_call;
  std::vector<bool> is_by_time;  // for each call, whether place_by_time found a range around it
};

[[nodiscard]] RangeTree range_tree(const Trace& trace);

/// Places launches outside every range of their own thread, and the outermost ranges around launches, into a range of
/// another thread. This is the innermost range that the other thread of the process had open during the whole time, if
/// that thread waited or the range is process-wide. A thread counts as waiting if at least four launches, on average,
/// come between two of its own calls in that range. If there are several such threads, threads that launch operations
/// themselves take precedence. Nothing is placed if their ranges have different names and do not contain one another.
/// @param launched_by  launching_calls(trace)
void place_by_time(const Trace& trace, std::span<const Index> launched_by, RangeTree& tree);

struct RangeRows {
  std::vector<RangeTime> rows;      // each row precedes the rows inside it; siblings are in the order of first start
  std::vector<Index> row_of_range;  // for each range of the trace, the index of its row
};

/// Returns the figures of the ranges, with one row for all ranges that have the same label and the same outer ranges.
/// @param launched_by  launching_calls(trace)
[[nodiscard]] RangeRows range_rows(const Trace& trace, const RangeTree& tree, std::span<const Index> launched_by);

// The phase of each operation, the device time of each phase, and the rows that are derived from the times of ranges
// and of the kernels in them.

/// Finds the phase of each range: the innermost phase around it, including the range itself.
class Phases {
 public:
  /// @param trace, tree  must outlive this
  /// @throws             UsageError  as analyse
  Phases(const Trace& trace, const RangeTree& tree, const ProfileOptions& options);

  /// Returns the names of the phases in the order of their first start.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// Returns the innermost phase around `range`, including `range` itself, or kNone.
  [[nodiscard]] Index range_around(Index range) const;
  /// Returns the outermost range of that phase around `range`, without a range of another phase in between.
  [[nodiscard]] Index outermost_around(Index range) const;
  /// Returns the phase as an index of names(), or names().size() outside every phase.
  [[nodiscard]] std::size_t phase_of(Index range) const;

 private:
  void find_names(const ProfileOptions& options);
  [[nodiscard]] std::set<std::string> outermost_labels() const;
  Index phase_named(const std::string& label);

  const Trace& trace_;
  const RangeTree& tree_;
  std::vector<bool> is_phase_name_;
  bool uses_outermost_{};
  std::vector<Index> phase_of_range_;
  std::vector<std::string> names_;
};

/// Returns the message `no range is named 'NAME'`, with the nearest name and the first names of the trace.
[[nodiscard]] std::string no_such_range(const Trace& trace, const std::string& name);

/// Fills span_ns, busy_ns and gaps of the phases.
/// @param times        the phases in the order of Phases::names()
/// @param launched_by  launching_calls(trace)
void add_phase_spans(const Trace& trace, const RangeTree& tree, const Phases& phases,
                     std::span<const Index> launched_by, std::vector<PhaseTime>& times);

/// Returns the parts projections, residual and not attention of each range FORWARD and BACKWARD, in upper or lower
/// case. If there are no such ranges, returns the parts of the outermost ranges. A part is left out if the ranges from
/// which it is computed are missing.
[[nodiscard]] std::vector<DerivedRange> derived_ranges(const std::vector<RangeTime>& ranges);

/// Returns the times of attention by phase, for the phases with operations in the attention ranges.
[[nodiscard]] std::vector<AttentionTime> attention_times(const Profile& profile);

}  // namespace tbench::profile

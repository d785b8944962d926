// The ranges of a trace: how they lie in one another and what they come to, which of them are phases, and what follows
// from their times.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

// The nesting of ranges, the range in which a call was made, and the figures of ranges: on the host, and of the
// operations that were launched in them.

/// For each range the innermost one of its thread that holds it, and for each call the innermost one of its thread that
/// holds it: this is nsys's rule. kNone: none does. If two ranges are equal, the first in the trace holds the other.
/// Ranges that would be in over 63 others lie next to each other in the 63rd.
struct RangeTree {
  std::vector<Index> parent_of_range;
  std::vector<Index> range_of_call;
  std::vector<bool> is_by_time;  // of each call: place_by_time found a range around it
};

[[nodiscard]] RangeTree range_tree(const Trace& trace);

/// Places what threads launched in no range, and their outermost ranges around launches: into the innermost range that
/// another thread of the process had open all the while, if that thread waited or the range is of the whole process. It
/// waited where the launches in that range come without its own calls in between, four in a row at least on average. If
/// there are several such threads, the ones count that launch operations themselves; where their ranges have neither
/// one name nor lie in one another, nothing is placed.
/// @param launched_by  launching_calls(trace)
void place_by_time(const Trace& trace, std::span<const Index> launched_by, RangeTree& tree);

struct RangeRows {
  std::vector<RangeTime> rows;      // a row before those inside of it, else as they first begin
  std::vector<Index> row_of_range;  // of each range of the trace
};

/// One row for the ranges of a label in the same outer ranges.
/// @param launched_by  launching_calls(trace)
[[nodiscard]] RangeRows range_rows(const Trace& trace, const RangeTree& tree, std::span<const Index> launched_by);

// Which phase of a step an operation belongs to, when the devices worked on each phase, and the rows of the studies
// that follow from the times of ranges and of the kernels in them.

/// The phase of each range: the innermost range around it that is a phase, itself included.
class Phases {
 public:
  /// @param trace, tree  must outlive this
  /// @throws             UsageError  as analyse
  Phases(const Trace& trace, const RangeTree& tree, const ProfileOptions& options);

  /// Names of the phases in the order of their first begin.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The innermost range around `range` that is a phase, itself included; kNone: none is.
  [[nodiscard]] Index range_around(Index range) const;
  /// The outermost range of that phase around it, with no range of another phase in between.
  [[nodiscard]] Index outermost_around(Index range) const;
  /// Index of the names; names().size() outside of any phase.
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

/// `no range is named 'NAME'`, with the nearest name and the first ones that there are.
[[nodiscard]] std::string no_such_range(const Trace& trace, const std::string& name);

/// Fills span_ns, busy_ns and gaps of the phases, which come in the order of Phases::names.
/// @param launched_by  launching_calls(trace)
void add_phase_spans(const Trace& trace, const RangeTree& tree, const Phases& phases,
                     std::span<const Index> launched_by, std::vector<PhaseTime>& times);

/// For each range FORWARD and BACKWARD, in any case of letters, or for the outermost ranges where there is none of
/// them: projections, residual, not attention; each only where the ranges are there that it is made of.
[[nodiscard]] std::vector<DerivedRange> derived_ranges(const std::vector<RangeTime>& ranges);

/// Returns the times of attention by phase; only phases that have operations in such ranges.
[[nodiscard]] std::vector<AttentionTime> attention_times(const Profile& profile);

}  // namespace tbench::profile

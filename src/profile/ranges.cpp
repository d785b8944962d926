#include "profile/ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "profile/device_time.hpp"
#include "tbench/core/text.hpp"

namespace tbench::profile {
namespace {

/// The maximum nesting depth of ranges. Programs have about ten levels. Ranges that are never ended would nest without
/// limit.
constexpr int kMaxDepth = 64;
/// The maximum number of open ranges that are searched. It only matters for many ranges that overlap without nesting.
constexpr std::ptrdiff_t kMaxLookedAt = 1000;

/// The open ranges of one thread at an advancing moment.
class OpenRanges {
 public:
  explicit OpenRanges(const std::vector<Range>& ranges) : ranges_{ranges} {}

  void open(Index range) { open_.push_back(range); }
  void clear() { open_.clear(); }

  /// Returns the innermost open range that contains [start, end], or kNone. Calls must come in the order of their
  /// starts, since innermost ranges that ended before `start_ns` are dropped.
  Index holding(std::int64_t start_ns, std::int64_t end_ns) {
    while (!open_.empty() && ranges_[open_.back()].end_ns < start_ns) open_.pop_back();
    const std::ptrdiff_t count = std::min(std::ssize(open_), kMaxLookedAt);
    const auto last = open_.rbegin() + count;
    const auto found = std::find_if(open_.rbegin(), last, [&](Index range) { return ranges_[range].end_ns >= end_ns; });
    return found == last ? kNone : *found;
  }

 private:
  const std::vector<Range>& ranges_;
  std::vector<Index> open_;
};

/// Returns the indexes of the events, ordered by thread, then by start, then by descending end.
template <class Event>
std::vector<Index> in_order(const std::vector<Event>& events) {
  std::vector<Index> order(events.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto before = [&](Index a, Index b) {
    const Event& left = events[a];
    const Event& right = events[b];
    if (left.thread != right.thread) return left.thread < right.thread;
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
    return a < b;
  };
  if (!std::ranges::is_sorted(order, before)) std::ranges::sort(order, before);
  return order;
}

}  // namespace

RangeTree range_tree(const Trace& trace) {
  RangeTree tree{.parent_of_range = std::vector<Index>(trace.ranges.size(), kNone),
                 .range_of_call = std::vector<Index>(trace.calls.size(), kNone),
                 .is_by_time = std::vector<bool>(trace.calls.size())};
  if (trace.ranges.empty()) return tree;
  const std::vector<Index> ranges = in_order(trace.ranges);
  const std::vector<Index> calls = in_order(trace.calls);
  OpenRanges open{trace.ranges};
  std::vector<int> depth(trace.ranges.size());  // number of outer ranges
  std::size_t next_call = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = trace.ranges[ranges[i]];
    if (i > 0 && range.thread != trace.ranges[ranges[i - 1]].thread) open.clear();
    Index parent = open.holding(range.start_ns, range.end_ns);
    if (parent != kNone && depth[parent] + 1 == kMaxDepth) parent = tree.parent_of_range[parent];
    tree.parent_of_range[ranges[i]] = parent;
    depth[ranges[i]] = parent == kNone ? 0 : depth[parent] + 1;
    open.open(ranges[i]);
    // Places the calls before the next range of this thread. Calls before a thread's first range have no range.
    const Range* const next = i + 1 < ranges.size() ? &trace.ranges[ranges[i + 1]] : nullptr;
    for (; next_call < calls.size(); ++next_call) {
      const ApiCall& call = trace.calls[calls[next_call]];
      const bool is_before_thread =
          call.thread < range.thread || (call.thread == range.thread && call.start_ns < range.start_ns);
      if (is_before_thread) continue;
      if (call.thread != range.thread) break;
      if (next != nullptr && next->thread == call.thread && next->start_ns <= call.start_ns) break;
      tree.range_of_call[calls[next_call]] = open.holding(call.start_ns, call.end_ns);
    }
  }
  return tree;
}

namespace {

/// The device time of one range. Its operations are added in the order of their starts.
struct Instance {
  std::int64_t first_start_ns{INT64_MAX};
  std::int64_t last_end_ns{INT64_MIN};
  BusyTime busy;
};

/// Assigns ranges to rows. Ranges with the same label share a row if their outer ranges share a row.
class Rows {
 public:
  Rows(const Trace& trace, const RangeTree& tree) : trace_{trace}, tree_{tree} {
    label_of_name_.resize(trace.names.size(), kNone);
    row_of_range_.resize(trace.ranges.size(), kNone);
    std::vector<Index> order(trace.ranges.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, {}, [&](Index range) { return trace.ranges[range].start_ns; });
    for (const Index range : order) place(range);
  }

  [[nodiscard]] Index row_of(Index range) const { return row_of_range_[range]; }
  [[nodiscard]] const std::vector<Index>& row_of_range() const { return row_of_range_; }
  /// Returns the rows, with only `label`, `depth` and `parent` set.
  [[nodiscard]] const std::vector<RangeTime>& rows() const { return rows_; }

 private:
  /// Assigns rows to the range and to its outer ranges without a row, the outermost first.
  void place(Index range) {
    std::vector<Index> chain;
    for (Index outer = range; outer != kNone && row_of_range_[outer] == kNone; outer = tree_.parent_of_range[outer]) {
      chain.push_back(outer);
    }
    for (auto next = chain.rbegin(); next != chain.rend(); ++next) row_of_range_[*next] = new_or_known_row(*next);
  }

  Index new_or_known_row(Index range) {
    const Index parent = tree_.parent_of_range[range];
    const Index parent_row = parent == kNone ? kNone : row_of_range_[parent];
    const Index label = label_of(trace_.ranges[range].name);
    const auto [found, is_new] = known_.try_emplace({parent_row, label}, static_cast<Index>(rows_.size()));
    if (is_new) {
      rows_.push_back({.label = labels_[label],
                       .depth = parent_row == kNone ? 0 : rows_[parent_row].depth + 1,
                       .parent = parent_row == kNone ? 0 : parent_row});
    }
    return found->second;
  }

  Index label_of(Index name) {
    if (label_of_name_[name] != kNone) return label_of_name_[name];
    std::string label = range_label(trace_.names[name]);
    const auto [found, is_new] = label_index_.try_emplace(label, static_cast<Index>(labels_.size()));
    if (is_new) labels_.push_back(std::move(label));
    return label_of_name_[name] = found->second;
  }

  const Trace& trace_;
  const RangeTree& tree_;
  std::vector<std::string> labels_;
  std::map<std::string, Index> label_index_;
  std::vector<Index> label_of_name_;
  std::vector<Index> row_of_range_;
  std::map<std::pair<Index, Index>, Index> known_;  // by parent's row and label
  std::vector<RangeTime> rows_;
};

void add_host_times(const Trace& trace, const RangeTree& tree, const Rows& rows, std::vector<RangeTime>& times) {
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const std::int64_t duration_ns = trace.ranges[i].end_ns - trace.ranges[i].start_ns;
    RangeTime& row = times[rows.row_of(static_cast<Index>(i))];
    row.host.add(duration_ns);
    row.host_exclusive_ns += duration_ns;
    const Index parent = tree.parent_of_range[i];
    if (parent != kNone) times[rows.row_of(parent)].host_exclusive_ns -= duration_ns;
  }
}

/// Finds the gap before each operation on its device. Operations must come in the order of their starts.
class PrecedingGaps {
 public:
  explicit PrecedingGaps(const Trace& trace) : trace_{trace} {}

  Gaps before(const Operation& operation, Index launch) {
    const auto [found, is_first] =
        idle_since_ns_.try_emplace({operation.process, operation.device}, operation.start_ns);
    Gaps gap;
    add_gap(gap, found->second, operation.start_ns, launch == kNone ? nullptr : &trace_.calls[launch]);
    found->second = std::max(found->second, operation.end_ns);
    return gap;
  }

 private:
  const Trace& trace_;
  std::map<DeviceOperations::Device, std::int64_t> idle_since_ns_;
};

void add_device_times(const Trace& trace, const RangeTree& tree, std::span<const Index> launched_by, const Rows& rows,
                      std::vector<RangeTime>& times) {
  std::vector<Instance> instances(trace.ranges.size());
  std::vector<bool> is_counted(trace.calls.size());
  PrecedingGaps preceding{trace};
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const Operation& operation = trace.operations[i];
    const Gaps gap = preceding.before(operation, launched_by[i]);
    if (launched_by[i] == kNone) continue;
    const std::int64_t duration_ns = operation.end_ns - operation.start_ns;
    const Index innermost = tree.range_of_call[launched_by[i]];
    if (innermost != kNone) times[rows.row_of(innermost)].gpu_exclusive_ns += duration_ns;
    const bool is_kernel = operation.kind == OperationKind::kKernel || operation.kind == OperationKind::kGraph;
    const bool is_launch = is_kernel && !is_counted[launched_by[i]];
    if (is_launch) is_counted[launched_by[i]] = true;
    for (Index range = innermost; range != kNone; range = tree.parent_of_range[range]) {
      RangeTime& row = times[rows.row_of(range)];
      ++row.operations;
      row.launches += is_launch ? 1 : 0;
      row.gpu_sum_ns += duration_ns;
      row.gaps.add(gap);
      Instance& instance = instances[range];
      instance.first_start_ns = std::min(instance.first_start_ns, operation.start_ns);
      instance.last_end_ns = std::max(instance.last_end_ns, operation.end_ns);
      instance.busy.add(operation.start_ns, operation.end_ns);
    }
  }
  for (std::size_t range = 0; range < instances.size(); ++range) {
    const Instance& instance = instances[range];
    if (instance.last_end_ns < instance.first_start_ns) continue;
    RangeTime& row = times[rows.row_of(static_cast<Index>(range))];
    row.gpu_span_ns += instance.last_end_ns - instance.first_start_ns;
    row.gpu_busy.add(instance.busy.total_ns());
  }
}

/// Orders the rows as a tree: each row precedes the rows inside it.
RangeRows in_tree_order(std::vector<RangeTime> rows, std::vector<Index> row_of_range) {
  std::vector<std::vector<std::size_t>> inside(rows.size());
  std::vector<std::size_t> pending;
  for (std::size_t i = rows.size(); i-- > 0;) {
    if (rows[i].depth == 0) {
      pending.push_back(i);
    } else {
      inside[rows[i].parent].push_back(i);
    }
  }
  std::vector<RangeTime> ordered;
  std::vector<std::size_t> place(rows.size());
  while (!pending.empty()) {
    const std::size_t row = pending.back();
    pending.pop_back();
    place[row] = ordered.size();
    if (rows[row].depth > 0) rows[row].parent = place[rows[row].parent];
    ordered.push_back(std::move(rows[row]));
    pending.insert(pending.end(), inside[row].begin(), inside[row].end());
  }
  for (Index& row : row_of_range) row = static_cast<Index>(place[row]);
  return {.rows = std::move(ordered), .row_of_range = std::move(row_of_range)};
}

}  // namespace

RangeRows range_rows(const Trace& trace, const RangeTree& tree, std::span<const Index> launched_by) {
  const Rows rows{trace, tree};
  std::vector<RangeTime> times = rows.rows();
  add_host_times(trace, tree, rows, times);
  add_device_times(trace, tree, launched_by, rows, times);
  return in_tree_order(std::move(times), rows.row_of_range());
}

}  // namespace tbench::profile

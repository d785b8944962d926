// Finds by time the ranges of operations that a thread launched outside its own ranges. For example, PyTorch runs the
// backward pass on a separate thread, while the thread with the range BACKWARD waits.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"

namespace tbench::profile {
namespace {

/// A thread counts as waiting if the other thread makes at least this many launches, on average, between two of its own
/// calls.
constexpr std::int64_t kMinCallsBetween = 4;
/// The most threads with ranges that one process may have. With more, the waiting thread cannot be determined.
constexpr std::size_t kMaxThreads = 100;

Window window_of(const Range& range) { return {range.start_ns, range.end_ns}; }

/// The ranges and the calls of a thread.
struct HostThread {
  std::vector<Index> ranges;              // each range precedes the ranges that it contains
  std::vector<std::int64_t> call_starts;  // in order
  bool has_launched{};
};

/// The ranges of all threads, in an order in which each range precedes the ranges that it contains.
class ThreadRanges {
 public:
  ThreadRanges(const Trace& trace, const RangeTree& tree) : trace_{trace}, tree_{tree}, threads_(trace.threads.size()) {
    for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
      threads_[trace.ranges[i].thread].ranges.push_back(static_cast<Index>(i));
    }
    for (const ApiCall& call : trace.calls) threads_[call.thread].call_starts.push_back(call.start_ns);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      std::ranges::sort(threads_[i].ranges, [&](Index a, Index b) { return is_before(a, b); });
      std::ranges::sort(threads_[i].call_starts);
      if (!threads_[i].ranges.empty()) with_ranges_[trace.threads[i].process].push_back(static_cast<Index>(i));
    }
  }

  [[nodiscard]] HostThread& thread(Index index) { return threads_[index]; }
  [[nodiscard]] const HostThread& thread(Index index) const { return threads_[index]; }

  /// Returns the other threads of the same process that have ranges. Returns none if the process has too many.
  [[nodiscard]] std::vector<Index> others(Index thread) const {
    const auto found = with_ranges_.find(trace_.threads[thread].process);
    if (found == with_ranges_.end() || found->second.size() > kMaxThreads) return {};
    std::vector<Index> others = found->second;
    std::erase(others, thread);
    return others;
  }

  /// Compares two ranges in an order in which each range precedes the ranges that it contains.
  [[nodiscard]] bool is_before(Index a, Index b) const {
    const Range& left = trace_.ranges[a];
    const Range& right = trace_.ranges[b];
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
    return a < b;
  }

  [[nodiscard]] bool holds(Index range, const Window& window) const {
    return trace_.ranges[range].start_ns <= window.begin_ns && trace_.ranges[range].end_ns >= window.end_ns;
  }

  /// Returns the thread's innermost range that contains the window, or kNone. The search begins at the last range that
  /// starts before the window: any other range of the thread that contains the window also contains that range.
  [[nodiscard]] Index holding(Index thread, const Window& window) const {
    const std::vector<Index>& ranges = threads_[thread].ranges;
    const auto behind = std::ranges::upper_bound(ranges, window.begin_ns, {},
                                                 [&](Index range) { return trace_.ranges[range].start_ns; });
    if (behind == ranges.begin()) return kNone;
    return first_around(*std::prev(behind), [&](Index range) { return holds(range, window); });
  }

  /// Returns the innermost range for which `is_it` is true among `range` and the ranges around it, or kNone.
  template <class IsIt>
  [[nodiscard]] Index first_around(Index range, const IsIt& is_it) const {
    while (range != kNone && !is_it(range)) range = tree_.parent_of_range[range];
    return range;
  }

 private:
  const Trace& trace_;
  const RangeTree& tree_;
  std::vector<HostThread> threads_;
  std::map<std::uint16_t, std::vector<Index>> with_ranges_;  // by process
};

/// A call that launched an operation. The outermost range of its thread around the call is placed, or the call itself
/// if there is no such range.
struct Launch {
  Index call{};
  Index thread{};
  Index outermost{kNone};
  Window window{};
};

/// Counts how the launches of one thread alternate with the calls of another thread.
struct Alternation {
  std::int64_t launches{};
  std::int64_t runs{};  // number of sequences of launches without a call of the other thread in between
  std::ptrdiff_t last_place{-1};

  void add(std::ptrdiff_t place) {
    ++launches;
    runs += place == last_place ? 0 : 1;
    last_place = place;
  }
  /// Returns whether the other thread waited, instead of working at the same time.
  [[nodiscard]] bool is_wait() const { return runs == 1 || launches >= kMinCallsBetween * runs; }
};

class Placement {
 public:
  Placement(const Trace& trace, std::span<const Index> launched_by, const RangeTree& tree)
      : trace_{trace}, ranges_{trace, tree} {
    std::vector<bool> is_known(trace_.calls.size());
    for (const Index call : launched_by) {
      if (call == kNone || is_known[call]) continue;
      is_known[call] = true;
      launches_.push_back(launch_of(call, tree));
      ranges_.thread(trace.calls[call].thread).has_launched = true;
    }
    std::ranges::sort(launches_, {}, [&](const Launch& launch) { return trace_.calls[launch.call].start_ns; });
    for (const Launch& launch : launches_) count(launch);
  }

  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }

  /// Returns the range of another thread to which the launch belongs, or kNone if there is none or it is ambiguous.
  [[nodiscard]] Index range_for(const Launch& launch) const {
    Index best = kNone;
    bool is_launching = false;  // the thread of `best` launches operations
    bool is_clear = true;
    for (const auto& [thread, open] : open_ranges(launch)) {
      const Index range = usable(open, launch.thread);
      if (range == kNone || (is_launching && !ranges_.thread(thread).has_launched)) continue;
      const bool is_better = best == kNone || (!is_launching && ranges_.thread(thread).has_launched);
      is_launching = ranges_.thread(thread).has_launched;
      is_clear = is_better || (is_clear && are_alike(best, range));
      best = is_better || ranges_.is_before(best, range) ? range : best;
    }
    return is_clear ? best : kNone;
  }

 private:
  [[nodiscard]] Launch launch_of(Index call, const RangeTree& tree) const {
    const ApiCall& made = trace_.calls[call];
    const Index outermost = ranges_.first_around(tree.range_of_call[call],
                                                 [&](Index range) { return tree.parent_of_range[range] == kNone; });
    return {.call = call,
            .thread = made.thread,
            .outermost = outermost,
            .window = outermost == kNone ? Window{made.start_ns, made.end_ns} : window_of(trace_.ranges[outermost])};
  }

  /// Returns the other threads of the process, each with its innermost range that was open during the whole window.
  [[nodiscard]] std::vector<std::pair<Index, Index>> open_ranges(const Launch& launch) const {
    std::vector<std::pair<Index, Index>> open;
    for (const Index thread : ranges_.others(launch.thread)) {
      const Index range = ranges_.holding(thread, launch.window);
      if (range != kNone && can_hold(range, launch.outermost)) open.emplace_back(thread, range);
    }
    return open;
  }

  /// Returns whether `range` may become the parent of `outermost`. A range never contains itself, nor a range of the
  /// same name: a phase with a range on each of two threads keeps both.
  [[nodiscard]] bool can_hold(Index range, Index outermost) const {
    if (outermost == kNone) return true;
    const auto has_its_name = [&](Index around) { return name_of(around) == name_of(outermost); };
    return ranges_.is_before(range, outermost) && ranges_.first_around(range, has_its_name) == kNone;
  }

  /// Returns the name as text, because Trace::names may have the same text several times.
  [[nodiscard]] const std::string& name_of(Index range) const { return trace_.names[trace_.ranges[range].name]; }

  void count(const Launch& launch) {
    const std::int64_t start_ns = trace_.calls[launch.call].start_ns;
    for (const auto& [thread, range] : open_ranges(launch)) {
      const std::vector<std::int64_t>& starts = ranges_.thread(thread).call_starts;
      alternations_[{range, launch.thread}].add(std::ranges::lower_bound(starts, start_ns) - starts.begin());
    }
  }

  /// Returns the range if its thread waited, otherwise the innermost process-wide range among it and the ranges around
  /// it, or kNone.
  [[nodiscard]] Index usable(Index range, Index thread) const {
    if (alternations_.at({range, thread}).is_wait()) return range;
    return ranges_.first_around(range, [&](Index around) { return trace_.ranges[around].is_of_process; });
  }

  /// Returns whether the two ranges are unambiguous: both have the same name, or one contains the other.
  [[nodiscard]] bool are_alike(Index a, Index b) const {
    return name_of(a) == name_of(b) || ranges_.holds(a, window_of(trace_.ranges[b])) ||
           ranges_.holds(b, window_of(trace_.ranges[a]));
  }

  const Trace& trace_;
  ThreadRanges ranges_;
  std::vector<Launch> launches_;                                 // in the order of their calls
  std::map<std::pair<Index, Index>, Alternation> alternations_;  // by range, and by thread of the launches
};

}  // namespace

void place_by_time(const Trace& trace, std::span<const Index> launched_by, RangeTree& tree) {
  if (trace.threads.size() < 2 || trace.ranges.empty()) return;
  const Placement placement{trace, launched_by, tree};
  std::vector<Index> range_for;
  for (const Launch& launch : placement.launches()) range_for.push_back(placement.range_for(launch));
  for (std::size_t i = 0; i < range_for.size(); ++i) {
    if (range_for[i] == kNone) continue;
    const Launch& launch = placement.launches()[i];
    tree.is_by_time[launch.call] = true;
    (launch.outermost == kNone ? tree.range_of_call[launch.call] : tree.parent_of_range[launch.outermost]) =
        range_for[i];
  }
}

}  // namespace tbench::profile

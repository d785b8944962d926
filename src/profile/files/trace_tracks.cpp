#include "profile/files/trace_tracks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace tbench::profile {
namespace {

/// The ends of the open events of one lane at an advancing moment, the innermost last.
class Lane {
 public:
  /// Adds the event if it nests with the lane's open events, and returns whether it does. Starts must come in order.
  bool takes(std::int64_t start_ns, std::int64_t end_ns) {
    while (!open_.empty() && open_.back() <= start_ns) open_.pop_back();
    if (!open_.empty() && open_.back() < end_ns) return false;
    open_.push_back(end_ns);
    return true;
  }

 private:
  std::vector<std::int64_t> open_;
};

template <class Event>
void append(std::vector<HostEvent>& to, const std::vector<Event>& events, bool is_call) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    to.push_back({.start_ns = events[i].start_ns,
                  .end_ns = events[i].end_ns,
                  .index = static_cast<Index>(i),
                  .thread = events[i].thread,
                  .is_call = is_call});
  }
}

/// Returns the index of the first lane for which `fits` is true. If there is none, adds a lane.
template <class L, class Fits>
std::uint32_t lane_of(std::vector<L>& lanes, const Fits& fits) {
  const auto found = std::ranges::find_if(lanes, fits);
  const auto lane = static_cast<std::uint32_t>(found - lanes.begin());
  if (found == lanes.end()) static_cast<void>(fits(lanes.emplace_back()));
  return lane;
}

}  // namespace

std::vector<HostEvent> host_events(const Trace& trace) {
  std::vector<HostEvent> events;
  events.reserve(trace.ranges.size() + trace.calls.size());
  append(events, trace.ranges, false);
  append(events, trace.calls, true);
  std::ranges::sort(events, [](const HostEvent& a, const HostEvent& b) {
    return std::tuple{a.start_ns, b.end_ns, a.is_call, a.index} < std::tuple{b.start_ns, a.end_ns, b.is_call, b.index};
  });
  std::vector<std::vector<Lane>> lanes(trace.threads.size());
  for (HostEvent& event : events) {
    event.lane = lane_of(lanes[event.thread], [&](Lane& lane) { return lane.takes(event.start_ns, event.end_ns); });
  }
  return events;
}

std::vector<std::uint32_t> operation_lanes(const Trace& trace) {
  struct Free {
    std::int64_t from_ns{INT64_MIN};
  };
  std::map<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>, std::vector<Free>> streams;
  std::vector<std::uint32_t> lanes;
  lanes.reserve(trace.operations.size());
  for (const Operation& operation : trace.operations) {
    auto& stream = streams[{operation.process, operation.device, operation.stream}];
    lanes.push_back(lane_of(stream, [&](Free& lane) {
      if (operation.start_ns < lane.from_ns) return false;
      lane.from_ns = operation.end_ns;
      return true;
    }));
  }
  return lanes;
}

}  // namespace tbench::profile

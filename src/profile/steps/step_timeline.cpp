// Takes the timeline of one layer out of a trace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/device_time.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/range_names.hpp"
#include "tbench/profile/step_summary.hpp"

namespace tbench::profile {
namespace {

bool is_inside(const Range& inner, const Range& outer) {
  return inner.thread == outer.thread && inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns;
}

/// Returns the first FORWARD, or null if there is none.
const Range* forward_of(const Trace& trace) {
  const Range* first = nullptr;
  for (const Range& range : trace.ranges) {
    if (!is_label(trace.names[range.name], "FORWARD")) continue;
    if (first == nullptr || range.start_ns < first->start_ns) first = &range;
  }
  return first;
}

/// Returns the middle one of the layers in `forward`, or null if it has none.
const Range* middle_layer(const Trace& trace, const Range& forward) {
  constexpr std::string_view kLayers = "layer.*";
  std::vector<const Range*> layers;
  for (const Range& range : trace.ranges) {
    if (is_inside(range, forward) && range_label(trace.names[range.name]) == kLayers) layers.push_back(&range);
  }
  if (layers.empty()) return nullptr;
  std::ranges::sort(layers, {}, &Range::start_ns);
  return layers[layers.size() / 2];
}

struct Entry {
  TimelineEntry kind{};
  Index name{};
  std::int64_t depth{};
  std::int64_t start_ns{};
  std::int64_t end_ns{};
};

/// Adds the ranges from `layer` inwards. An outer range precedes the ranges inside it.
void add_ranges(const Trace& trace, const Range& layer, std::vector<Entry>& entries) {
  std::vector<const Range*> inside;
  for (const Range& range : trace.ranges) {
    if (is_inside(range, layer)) inside.push_back(&range);
  }
  std::ranges::stable_sort(inside, [](const Range* a, const Range* b) {
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->end_ns > b->end_ns;
  });
  std::vector<const Range*> open;
  for (const Range* const range : inside) {
    while (!open.empty() && !is_inside(*range, *open.back())) open.pop_back();
    const auto depth = static_cast<std::int64_t>(open.size());
    open.push_back(range);
    if (depth > kMaxTimelineDepth) continue;
    entries.push_back({TimelineEntry::kRange, range->name, depth, range->start_ns, range->end_ns});
  }
}

/// Adds the calls in `layer` and the operations that they launched.
void add_calls(const Trace& trace, const Range& layer, std::vector<Entry>& entries) {
  std::vector<bool> is_in_layer(trace.calls.size());
  std::vector<const ApiCall*> calls;
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const ApiCall& call = trace.calls[i];
    is_in_layer[i] = call.thread == layer.thread && call.start_ns >= layer.start_ns && call.end_ns <= layer.end_ns;
    if (is_in_layer[i]) calls.push_back(&call);
  }
  std::ranges::stable_sort(calls, {}, &ApiCall::start_ns);
  std::int64_t covered_until_ns = INT64_MIN;
  for (const ApiCall* const call : calls) {
    if (call->start_ns < covered_until_ns) continue;
    covered_until_ns = call->end_ns;
    entries.push_back({TimelineEntry::kCall, call->name, 0, call->start_ns, call->end_ns});
  }
  const std::vector<Index> launched_by = launching_calls(trace);
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    if (launched_by[i] == kNone || !is_in_layer[launched_by[i]]) continue;
    const Operation& operation = trace.operations[i];
    entries.push_back({TimelineEntry::kOperation, operation.name, 0, operation.start_ns, operation.end_ns});
  }
}

}  // namespace

std::optional<StepTimeline> layer_timeline(const Trace& counted) {
  constexpr double kNs = 1e-9;
  const Range* const forward = forward_of(counted);
  const Range* const layer = forward == nullptr ? nullptr : middle_layer(counted, *forward);
  if (layer == nullptr) return std::nullopt;
  std::vector<Entry> entries;
  add_ranges(counted, *layer, entries);
  add_calls(counted, *layer, entries);
  std::ranges::stable_sort(entries, {}, &Entry::start_ns);
  StepTimeline timeline{.range = counted.names[forward->name] + "/" + counted.names[layer->name],
                        .names = {},
                        .kind = {},
                        .name = {},
                        .depth = {},
                        .start_s = {},
                        .end_s = {}};
  timeline.left_out = std::max<std::int64_t>(0, std::ssize(entries) - std::int64_t{kMaxTimelineEntries});
  entries.resize(std::min(entries.size(), kMaxTimelineEntries));
  std::map<Index, std::int64_t> index_of;
  for (const Entry& entry : entries) {
    const auto [found, is_new] = index_of.try_emplace(entry.name, std::ssize(timeline.names));
    if (is_new) timeline.names.push_back(counted.names[entry.name]);
    timeline.kind.push_back(static_cast<std::int64_t>(entry.kind));
    timeline.name.push_back(found->second);
    timeline.depth.push_back(entry.depth);
    timeline.start_s.push_back(kNs * static_cast<double>(entry.start_ns - layer->start_ns));
    timeline.end_s.push_back(kNs * static_cast<double>(entry.end_ns - layer->start_ns));
  }
  return timeline;
}

}  // namespace tbench::profile

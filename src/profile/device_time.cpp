#include "profile/device_time.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace tbench::profile {
namespace {

struct KeyedCall {
  std::uint64_t key;
  Index call;
};

std::uint64_t key_of(std::uint16_t process, std::uint32_t correlation) {
  constexpr int kCorrelationBits = 32;
  return (std::uint64_t{process} << kCorrelationBits) | correlation;
}

std::vector<KeyedCall> keyed_calls(const Trace& trace) {
  std::vector<KeyedCall> keyed;
  keyed.reserve(trace.calls.size());
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const ApiCall& call = trace.calls[i];
    keyed.push_back({key_of(trace.threads[call.thread].process, call.correlation), static_cast<Index>(i)});
  }
  std::ranges::sort(keyed, [&](const KeyedCall& a, const KeyedCall& b) {
    if (a.key != b.key) return a.key < b.key;
    return trace.calls[a.call].start_ns < trace.calls[b.call].start_ns;
  });
  return keyed;
}

/// Returns the index of the first element whose key is at least `key`. Operations start nearly in the order of their
/// launches, so the search widens from `near`, the result of the previous search.
std::size_t lower_bound_near(const std::vector<KeyedCall>& calls, std::uint64_t key, std::size_t near) {
  std::size_t low = near;
  std::size_t high = near;
  for (std::size_t step = 1; low > 0 && calls[low - 1].key >= key; step *= 2) low -= std::min(step, low);
  for (std::size_t step = 1; high < calls.size() && calls[high].key < key; step *= 2) {
    low = high;
    high += std::min(step, calls.size() - high);
  }
  const auto begin = calls.begin();
  const auto found =
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), key,
                       [](const KeyedCall& call, std::uint64_t k) { return call.key < k; });
  return static_cast<std::size_t>(found - begin);
}

}  // namespace

std::vector<Index> launching_calls(const Trace& trace) {
  const std::vector<KeyedCall> calls = keyed_calls(trace);
  std::vector<Index> launched_by;
  launched_by.reserve(trace.operations.size());
  std::size_t near = 0;
  for (const Operation& operation : trace.operations) {
    const std::uint64_t key = key_of(operation.process, operation.correlation);
    near = lower_bound_near(calls, key, near);
    launched_by.push_back(near < calls.size() && calls[near].key == key ? calls[near].call : kNone);
  }
  return launched_by;
}

namespace {

constexpr double kHostBoundShare = 0.05;

std::int64_t distinct(std::vector<Index>& calls) {
  std::ranges::sort(calls);
  return std::unique(calls.begin(), calls.end()) - calls.begin();  // Clang 14 cannot compile ranges::unique
}

}  // namespace

void add_gap(Gaps& gaps, std::int64_t from_ns, std::int64_t to_ns, const ApiCall* next_launch) {
  const std::int64_t length = to_ns - from_ns;
  if (length <= 0) return;
  if (next_launch == nullptr) {
    gaps.other_ns += length;
  } else if (next_launch->start_ns > from_ns) {
    gaps.host_ns += length;
  } else {
    gaps.device_ns += length;
  }
  gaps.longest_ns = std::max(gaps.longest_ns, length);
  ++gaps.count;
}

void BusyTime::add(std::int64_t start_ns, std::int64_t end_ns) {
  const std::int64_t from = std::max(start_ns, covered_until_ns_);
  if (end_ns <= from) return;
  covered_until_ns_ = end_ns;
  total_ns_ += end_ns - from;
}

void Gaps::add(const Gaps& others) {
  host_ns += others.host_ns;
  device_ns += others.device_ns;
  other_ns += others.other_ns;
  longest_ns = std::max(longest_ns, others.longest_ns);
  count += others.count;
}

bool DeviceTime::host_bound() const {
  return static_cast<double>(gaps.host_ns) > kHostBoundShare * static_cast<double>(span_ns);
}

double DeviceTime::idle_share() const {
  return span_ns > 0 ? 1 - static_cast<double>(busy_ns) / static_cast<double>(span_ns) : 0;
}

DeviceOperations::DeviceOperations(const Trace& trace) : trace_{trace} {
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const Operation& operation = trace.operations[i];
    by_device_[{operation.process, operation.device}].push_back(static_cast<Index>(i));
  }
}

DeviceTime DeviceOperations::time(std::span<const Index> launched_by, const Device& device, Window window) const {
  const auto found = by_device_.find(device);
  const std::span<const Index> operations = found == by_device_.end() ? std::span<const Index>{} : found->second;
  DeviceTime time;
  std::tie(time.process, time.device) = device;
  time.span_ns = window.end_ns - window.begin_ns;
  BusyTime busy;
  std::int64_t idle_since_ns = window.begin_ns;
  std::vector<Index> launches;
  const auto start_of = [&](Index i) { return trace_.operations[i].start_ns; };
  const auto first = std::ranges::lower_bound(operations, window.begin_ns, {}, start_of);
  for (const Index i : operations.subspan(static_cast<std::size_t>(first - operations.begin()))) {
    const Operation& operation = trace_.operations[i];
    if (operation.start_ns >= window.end_ns) break;
    const ApiCall* const launch = launched_by[i] == kNone ? nullptr : &trace_.calls[launched_by[i]];
    add_gap(time.gaps, idle_since_ns, operation.start_ns, launch);
    const std::int64_t end_ns = std::min(operation.end_ns, window.end_ns);
    busy.add(operation.start_ns, end_ns);
    idle_since_ns = std::max(idle_since_ns, end_ns);
    const bool is_copy = operation.kind == OperationKind::kMemcpy || operation.kind == OperationKind::kMemset;
    if (is_copy) continue;
    ++time.kernels;
    if (launched_by[i] != kNone) launches.push_back(launched_by[i]);
  }
  add_gap(time.gaps, idle_since_ns, window.end_ns, nullptr);
  time.busy_ns = busy.total_ns();
  time.launches = distinct(launches);
  return time;
}

std::vector<DeviceTime> DeviceOperations::times(std::span<const Index> launched_by) const {
  std::vector<DeviceTime> times;
  for (const auto& [device, operations] : by_device_) {
    Window window{trace_.operations[operations.front()].start_ns, INT64_MIN};
    for (const Index i : operations) window.end_ns = std::max(window.end_ns, trace_.operations[i].end_ns);
    times.push_back(time(launched_by, device, window));
  }
  return times;
}

DeviceTime device_time(const Trace& trace, std::span<const Index> launched_by, std::uint16_t process,
                       std::uint16_t device, Window window) {
  return DeviceOperations{trace}.time(launched_by, {process, device}, window);
}

std::vector<DeviceTime> device_times(const Trace& trace, std::span<const Index> launched_by) {
  return DeviceOperations{trace}.times(launched_by);
}

}  // namespace tbench::profile

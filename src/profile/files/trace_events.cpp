#include "profile/files/trace_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "profile/files/trace_tracks.hpp"

namespace tbench::profile {
namespace {

using results::Json;

constexpr std::int64_t kMaxBaseNs = std::int64_t{1} << 61;  // beyond any clock since 1970
constexpr std::int64_t kMaxId = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;  // so that sums do not overflow

std::vector<std::string> texts_of(const EventFields& fields, const char* key) {
  std::vector<std::string> texts;
  for (const Json& text : fields.array(key)) {
    if (!text.is_string()) fields.refuse(key, "expected texts alone");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace

void TraceEvents::read_header(const Json& json) {
  const EventFields header{json, kTraceHeader};
  const std::int64_t version = header.integer("schema_version", 1, kMaxId);
  if (version != kTraceSchemaVersion) {
    header.refuse("schema_version", fmt::format("is {}; this program reads {}", version, kTraceSchemaVersion));
  }
  base_ns_ = header.integer("base_ns", -kMaxBaseNs, kMaxBaseNs);
  file_.facts = {.name = header.has("name") ? header.text("name") : "",
                 .steps = header.integer("steps", 1, kMaxSteps),
                 .gpus = texts_of(header, "gpus")};
  file_.trace.names = texts_of(header, "names");
  names_.clear();
  for (std::size_t i = 0; i < file_.trace.names.size(); ++i) {
    names_.try_emplace(file_.trace.names[i], static_cast<Index>(i));
  }
  has_header_ = true;
}

void TraceEvents::add(const Json& json) {
  const EventFields event{json, fmt::format("traceEvents[{}]", events_++)};
  const std::string& phase = event.text("ph");
  if (phase == "M") add_metadata(event);
  if (phase == "X") add_complete(event);
}

void TraceEvents::add_metadata(const EventFields& event) {
  const std::string& what = event.text("name");
  if (what != "process_name" && what != "thread_name") return;
  const std::int64_t pid = event.integer("pid", 0, kMaxId);
  const EventFields arguments = event.object("args");
  if (what == "process_name") {
    Process process{.process = arguments.number<std::uint16_t>("process")};
    if (arguments.has("device")) process.device = arguments.number<std::uint16_t>("device");
    processes_[pid] = process;
    return;
  }
  const auto process = processes_.find(pid);
  if (process == processes_.end()) event.refuse("pid", fmt::format("no process_name of process {} before it", pid));
  const std::int64_t tid = event.integer("tid", 0, kMaxId);
  if (process->second.device) {
    tracks_[{pid, tid}] = Stream{process->second, arguments.number<std::uint32_t>("stream")};
    return;
  }
  add_thread(arguments, process->second);
  tracks_[{pid, tid}] = arguments.number<Index>("thread");
}

/// Adds the next thread, or another lane of a known thread.
void TraceEvents::add_thread(const EventFields& arguments, const Process& process) {
  const auto thread = arguments.number<Index>("thread");
  const Thread known{.process = process.process, .id = arguments.digits("id")};
  std::vector<Thread>& threads = file_.trace.threads;
  if (thread == threads.size() && !arguments.has("lane")) threads.push_back(known);
  if (thread >= threads.size() || threads[thread] != known) {
    arguments.refuse("thread", fmt::format("{} is neither the next thread nor a known one", thread));
  }
}

void TraceEvents::add_complete(const EventFields& event) {
  const std::string& category = event.text("cat");
  const auto kind = std::ranges::find(kOperationCategories, category);
  if (kind != kOperationCategories.end()) {
    return add_operation(event, static_cast<OperationKind>(kind - kOperationCategories.begin()));
  }
  const Times times = times_of(event);
  if (category == kRangeCategory) {
    file_.trace.ranges.push_back({.start_ns = times.start_ns,
                                  .end_ns = times.end_ns,
                                  .name = name_of(event, "name"),
                                  .thread = thread_of(event),
                                  .is_of_process = event.has("args") && event.object("args").has("of_process")});
  } else if (category == kCallCategory) {
    file_.trace.calls.push_back({.start_ns = times.start_ns,
                                 .end_ns = times.end_ns,
                                 .name = name_of(event, "name"),
                                 .thread = thread_of(event),
                                 .correlation = event.object("args").number<std::uint32_t>("correlation")});
  } else {
    event.refuse("cat", fmt::format("'{}' is neither range, api, kernel, memcpy, memset nor graph", category));
  }
}

void TraceEvents::add_operation(const EventFields& event, OperationKind kind) {
  const auto* const stream = std::get_if<Stream>(&track_of(event));
  if (stream == nullptr) event.refuse("tid", "is not a stream of a GPU");
  const EventFields arguments = event.object("args");
  const Times times = times_of(event);
  Operation operation{.start_ns = times.start_ns,
                      .end_ns = times.end_ns,
                      .name = kind == OperationKind::kKernel ? name_of(arguments, "kernel") : name_of(event, "name"),
                      .correlation = arguments.number<std::uint32_t>("correlation"),
                      .stream = stream->stream,
                      .process = stream->process.process,
                      .device = *stream->process.device,
                      .kind = kind};
  if (arguments.has("bytes")) operation.bytes = arguments.integer("bytes", 0, kMaxBytes);
  if (arguments.has("graph_node")) operation.graph_node = arguments.digits("graph_node");
  file_.trace.operations.push_back(operation);
}

TraceEvents::Times TraceEvents::times_of(const EventFields& event) const {
  const std::int64_t start_ns = base_ns_ + event.nanoseconds("ts", kMaxTraceNs, "it begins before the trace");
  return {.start_ns = start_ns, .end_ns = start_ns + event.nanoseconds("dur", kMaxTraceNs, "it ends before it begins")};
}

Index TraceEvents::name_of(const EventFields& fields, const char* key) const {
  const auto found = names_.find(fields.text(key));
  if (found == names_.end()) fields.refuse(key, fmt::format("is none of {}.names", kTraceHeader));
  return found->second;
}

TraceEvents::ThreadIndex TraceEvents::thread_of(const EventFields& event) const {
  const auto* const thread = std::get_if<ThreadIndex>(&track_of(event));
  if (thread == nullptr) event.refuse("tid", "is not a thread of the host");
  return *thread;
}

const TraceEvents::Track& TraceEvents::track_of(const EventFields& event) const {
  const std::int64_t pid = event.integer("pid", 0, kMaxId);
  const std::int64_t tid = event.integer("tid", 0, kMaxId);
  const auto found = tracks_.find({pid, tid});
  if (found == tracks_.end()) {
    event.refuse("tid", fmt::format("no thread_name of thread {} of process {} before it", tid, pid));
  }
  return found->second;
}

TraceFile TraceEvents::take() && {
  std::vector<Operation>& operations = file_.trace.operations;
  if (!std::ranges::is_sorted(operations, {}, &Operation::start_ns)) {
    std::ranges::stable_sort(operations, {}, &Operation::start_ns);
  }
  return std::move(file_);
}

}  // namespace tbench::profile

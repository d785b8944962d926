#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "profile/device_time.hpp"
#include "profile/files/trace_tracks.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/profile/trace_file.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::profile {
namespace {

using results::Json;

/// The number of a process or thread in the file. All numbers of a file differ, because some viewers confuse processes
/// and threads with equal numbers.
using TrackId = std::uint32_t;

/// Returns the window from the first start to the last end of all events.
Window extent_of(const Trace& trace) {
  Window extent{INT64_MAX, INT64_MIN};
  const auto include = [&](const auto& events) {
    for (const auto& event : events) {
      extent.begin_ns = std::min(extent.begin_ns, event.start_ns);
      extent.end_ns = std::max(extent.end_ns, event.end_ns);
    }
  };
  include(trace.operations);
  include(trace.calls);
  include(trace.ranges);
  return extent.begin_ns > extent.end_ns ? Window{} : extent;
}

/// Returns ` of process 2`, for example, if there are several processes, otherwise an empty text.
std::string of_process(std::uint16_t process, bool has_several) {
  return has_several ? fmt::format(" of process {}", process + 1) : "";
}

class Writer {
 public:
  Writer(const Trace& trace, const TraceFacts& facts)
      : trace_{trace},
        facts_{facts},
        base_ns_{extent_of(trace).begin_ns},
        launched_by_{launching_calls(trace)},
        host_events_{host_events(trace)},
        operation_lanes_{operation_lanes(trace)},
        kernel_names_(trace.names.size()) {
    for (const std::string& name : trace.names) names_.push_back(results::compact(Json(name)));
    const auto is_further = [](const auto& event) { return event.process > 0; };
    has_several_processes_ =
        std::ranges::any_of(trace.threads, is_further) || std::ranges::any_of(trace.operations, is_further);
  }

  std::string packed() && {
    write_header();
    write_threads();
    write_streams();
    find_flows();
    for (const HostEvent& event : host_events_) write_host_event(event);
    for (std::size_t i = 0; i < trace_.operations.size(); ++i) write_operation(i);
    return packer_.finish(fmt::format("{}\n]}}\n", to_text()));
  }

 private:
  static constexpr std::size_t kPart = std::size_t{1} << 16;

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] std::string_view to_text() const { return {text_.data(), text_.size()}; }

  /// Begins the line of the next event.
  void begin_event() {
    print("{}\n", is_first_ ? "" : ",");
    is_first_ = false;
    if (text_.size() < kPart) return;
    packer_.append(to_text());
    text_.clear();
  }

  void write_header() {
    Json header{{"schema_version", kTraceSchemaVersion},
                {"base_ns", base_ns_},
                {"steps", facts_.steps},
                {"gpus", facts_.gpus},
                {"names", trace_.names}};
    if (!facts_.name.empty()) header["name"] = facts_.name;
    print("{{\"displayTimeUnit\":\"ns\",\"{}\":{},\n\"traceEvents\":[", kTraceHeader, results::compact(header));
  }

  /// Writes the name and position of a track or process, and the fields that the reader needs.
  void write_metadata(const char* what, TrackId process, TrackId thread, TrackId place, const Json& arguments) {
    begin_event();
    print(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{}}})", what, process, thread,
          results::compact(arguments));
    begin_event();
    print(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", what, process, thread,
          place);
  }

  TrackId host_of(std::uint16_t process) {
    const auto [found, is_new] = hosts_.try_emplace(process, next_id_);
    if (is_new) {
      write_metadata("process", next_id_, next_id_, next_id_,
                     {{"name", "host" + of_process(process, has_several_processes_)}, {"process", process}});
      ++next_id_;
    }
    return found->second;
  }

  void write_threads() {
    std::vector<std::uint32_t> lanes(trace_.threads.size(), 1);
    for (const HostEvent& event : host_events_) lanes[event.thread] = std::max(lanes[event.thread], event.lane + 1);
    for (std::size_t i = 0; i < trace_.threads.size(); ++i) {
      const Thread& thread = trace_.threads[i];
      const TrackId process = host_of(thread.process);
      thread_tracks_.push_back({process, next_id_});
      for (std::uint32_t lane = 0; lane < lanes[i]; ++lane) {
        Json arguments{{"name", fmt::format("thread {}", thread.id)}, {"thread", i}, {"id", std::to_string(thread.id)}};
        add_lane(arguments, lane);
        write_metadata("thread", process, next_id_, next_id_, arguments);
        ++next_id_;
      }
    }
  }

  static void add_lane(Json& arguments, std::uint32_t lane) {
    if (lane == 0) return;
    arguments["name"] = fmt::format("{}, lane {}", arguments["name"].get<std::string>(), lane + 1);
    arguments["lane"] = lane;
  }

  void write_streams() {
    for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
      const Operation& operation = trace_.operations[i];
      std::uint32_t& lanes = stream_lanes_[{operation.process, operation.device, operation.stream}];
      lanes = std::max(lanes, operation_lanes_[i] + 1);
    }
    for (const auto& [key, lanes] : stream_lanes_) {
      const auto& [process, device, stream] = key;
      const TrackId gpu = gpu_of(process, device);
      stream_tracks_[key] = {gpu, next_id_};
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        Json arguments{{"name", fmt::format("stream {}", stream)}, {"stream", stream}};
        add_lane(arguments, lane);
        write_metadata("thread", gpu, next_id_, next_id_, arguments);
        ++next_id_;
      }
    }
  }

  TrackId gpu_of(std::uint16_t process, std::uint16_t device) {
    const auto [found, is_new] = gpus_.try_emplace({process, device}, next_id_);
    if (is_new) {
      const std::string model = facts_.gpus.size() == 1 ? fmt::format(" ({})", facts_.gpus.front()) : "";
      write_metadata("process", next_id_, next_id_, next_id_,
                     {{"name", fmt::format("GPU {}{}{}", device, of_process(process, has_several_processes_), model)},
                      {"process", process},
                      {"device", device}});
      ++next_id_;
    }
    return found->second;
  }

  /// Returns whether the operation gets a flow from its call. Viewers only draw arrows forward in time.
  [[nodiscard]] bool has_flow(std::size_t operation) const {
    const Index call = launched_by_[operation];
    return call != kNone && trace_.calls[call].start_ns <= trace_.operations[operation].start_ns;
  }

  void find_flows() {
    begins_flow_.resize(trace_.calls.size());
    for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
      if (has_flow(i)) begins_flow_[launched_by_[i]] = true;
    }
  }

  [[nodiscard]] std::uint64_t flow_of(std::uint16_t process, std::uint32_t correlation) const {
    constexpr int kCorrelationBits = 32;
    return (std::uint64_t{process} << kCorrelationBits) | correlation;
  }

  struct Track {
    TrackId process{};
    TrackId first_lane{};
  };

  /// Writes everything but the closing brace.
  void write_event(std::string_view category, std::string_view name, const Track& track, std::uint32_t lane,
                   std::int64_t start_ns, std::int64_t end_ns) {
    begin_event();
    const std::int64_t at_ns = start_ns - base_ns_;
    const std::int64_t duration_ns = end_ns - start_ns;
    print(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03})", category, name,
          track.process, track.first_lane + lane, at_ns / 1000, at_ns % 1000, duration_ns / 1000, duration_ns % 1000);
  }

  void write_host_event(const HostEvent& event) {
    const Index name = event.is_call ? trace_.calls[event.index].name : trace_.ranges[event.index].name;
    write_event(event.is_call ? kCallCategory : kRangeCategory, names_[name], thread_tracks_[event.thread], event.lane,
                event.start_ns, event.end_ns);
    if (event.is_call) {
      const std::uint32_t correlation = trace_.calls[event.index].correlation;
      print(R"(,"args":{{"correlation":{}}})", correlation);
      if (begins_flow_[event.index]) {
        print(R"(,"bind_id":{},"flow_out":true)", flow_of(trace_.threads[event.thread].process, correlation));
      }
    } else if (trace_.ranges[event.index].is_of_process) {
      print(R"(,"args":{{"of_process":1}})");
    }
    print("}}");
  }

  /// Returns the name without template arguments and parameters.
  const std::string& kernel_name_of(Index name) {
    std::string& known = kernel_names_[name];
    if (known.empty()) known = results::compact(Json(kernel_name(trace_.names[name])));
    return known;
  }

  void write_operation(std::size_t i) {
    const Operation& operation = trace_.operations[i];
    const bool is_kernel = operation.kind == OperationKind::kKernel;
    write_event(category_of(operation.kind), is_kernel ? kernel_name_of(operation.name) : names_[operation.name],
                stream_tracks_.at({operation.process, operation.device, operation.stream}), operation_lanes_[i],
                operation.start_ns, operation.end_ns);
    print(R"(,"args":{{"correlation":{})", operation.correlation);
    if (is_kernel) print(R"(,"kernel":{})", names_[operation.name]);
    if (operation.bytes != 0) print(R"(,"bytes":{})", operation.bytes);
    if (operation.graph_node != 0) print(R"(,"graph_node":"{}")", operation.graph_node);
    print("}}");
    if (has_flow(i)) print(R"(,"bind_id":{},"flow_in":true)", flow_of(operation.process, operation.correlation));
    print("}}");
  }

  const Trace& trace_;
  const TraceFacts& facts_;
  std::int64_t base_ns_;
  std::vector<Index> launched_by_;
  std::vector<HostEvent> host_events_;
  std::vector<std::uint32_t> operation_lanes_;
  std::vector<bool> begins_flow_;          // for each call
  std::vector<std::string> names_;         // names of the trace, as JSON
  std::vector<std::string> kernel_names_;  // short names of kernels as JSON; each is empty until its first use
  bool has_several_processes_{};
  using Stream = std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>;  // process, device, stream
  std::map<std::uint16_t, TrackId> hosts_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, TrackId> gpus_;
  std::vector<Track> thread_tracks_;
  std::map<Stream, std::uint32_t> stream_lanes_;
  std::map<Stream, Track> stream_tracks_;
  TrackId next_id_{1};
  bool is_first_{true};
  fmt::memory_buffer text_;
  results::Packer packer_;
};

}  // namespace

std::string pack_trace(const Trace& trace, const TraceFacts& facts) {
  const Window extent = extent_of(trace);
  const std::int64_t span_ns = extent.end_ns - extent.begin_ns;
  if (span_ns > kMaxTraceNs) {
    throw UsageError{fmt::format("the trace is of {:.0f} days, and a trace file holds 13; trace fewer steps",
                                 static_cast<double>(span_ns) * 1e-9 / 86'400)};
  }
  return Writer{trace, facts}.packed();
}

void write_trace_file(const std::string& path, const Trace& trace, const TraceFacts& facts) {
  results::write_atomically(path, pack_trace(trace, facts));
}

}  // namespace tbench::profile

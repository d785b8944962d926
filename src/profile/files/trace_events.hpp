// Converts the events of a trace file, one after the other, to a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "profile/files/event_fields.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::profile {

/// Builds a trace from JSON events. Every error throws std::runtime_error with the position.
class TraceEvents {
 public:
  /// Reads the header, which precedes the events.
  void read_header(const results::Json& json);
  [[nodiscard]] bool has_header() const { return has_header_; }

  /// Adds a complete event or the name of a process or thread. Other kinds of events are ignored.
  void add(const results::Json& json);

  /// Returns the trace with the operations in the order of their starts.
  [[nodiscard]] TraceFile take() &&;

 private:
  struct Process {
    std::uint16_t process{};
    std::optional<std::uint16_t> device{};  // nullopt for the host
  };
  struct Stream {
    Process process;
    std::uint32_t stream{};
  };
  using ThreadIndex = Index;
  using Track = std::variant<ThreadIndex, Stream>;
  struct Times {
    std::int64_t start_ns{};
    std::int64_t end_ns{};
  };

  void add_metadata(const EventFields& event);
  void add_thread(const EventFields& event, const Process& process);
  void add_complete(const EventFields& event);
  void add_operation(const EventFields& event, OperationKind kind);
  [[nodiscard]] Times times_of(const EventFields& event) const;
  [[nodiscard]] Index name_of(const EventFields& fields, const char* key) const;
  [[nodiscard]] ThreadIndex thread_of(const EventFields& event) const;
  [[nodiscard]] const Track& track_of(const EventFields& event) const;

  TraceFile file_;
  bool has_header_{};
  std::int64_t base_ns_{};
  std::size_t events_{};
  std::unordered_map<std::string, Index> names_;
  std::map<std::int64_t, Process> processes_;                      // by pid
  std::map<std::pair<std::int64_t, std::int64_t>, Track> tracks_;  // by pid and tid
};

}  // namespace tbench::profile

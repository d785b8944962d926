// Trace files: Chrome's trace event format, which Perfetto opens, and the facts needed to read the same trace back.
// Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// How the file of a folder of profiles is called.
inline constexpr const char* kTraceFileName = "trace.json.gz";

/// The facts known about a trace besides its events.
struct TraceFacts {
  std::string name{};               // name of the traced case; empty if unknown
  std::int64_t steps{1};            // number of traced steps
  std::vector<std::string> gpus{};  // their names, each once
  bool operator==(const TraceFacts&) const = default;
};

struct TraceFile {
  Trace trace;
  TraceFacts facts;
};

/// The trace as JSON packed by gzip: a process for each process and each of its GPUs, a track for each thread and each
/// stream, ranges, calls and operations as complete events in microseconds since the first of them, and a flow from a
/// call to what it launched. An event that would cut into another one of its track goes to a further track of the same
/// thread or stream. Holds only what is packed in memory.
/// @param trace  its times within 2^61 ns of 0
/// @throws       UsageError  for a trace of over 13 days, whose nanoseconds a reader of JSON cannot keep apart
[[nodiscard]] std::string pack_trace(const Trace& trace, const TraceFacts& facts = {});

/// Replaces the file as a whole (write_atomically).
/// @throws  UsageError         as pack_trace
/// @throws  std::system_error  naming the path and the cause
void write_trace_file(const std::string& path, const Trace& trace, const TraceFacts& facts = {});

/// Reads what write_trace_file wrote, packed or unpacked: an equal trace, but that calls and ranges come in the order
/// of their starts (of those that start together, what ends last first), of equal names only the first is used, and
/// bytes of names that are not UTF-8 are replaced.
/// @param path  the file, or a folder that has it as kTraceFileName
/// @throws      UsageError  naming the file, the place and the remedy: it cannot be read, is cut off, is no trace or
///                          none of ours, or an event lacks a field or has one that makes no sense
[[nodiscard]] TraceFile read_trace_file(const std::string& path);

}  // namespace tbench::profile

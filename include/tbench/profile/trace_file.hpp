// Trace files: Chrome's trace event format, which Perfetto opens, and the facts needed to read the same trace back.
// Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// The name of the trace file in the folder of a profile.
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

/// Returns the trace as JSON compressed by gzip. The JSON has a process for each process and for each of its GPUs, and
/// a track for each thread and each stream. Ranges, calls and operations are complete events in microseconds since the
/// first event. A flow leads from each call to the operation that it launched. An event that would overlap another
/// event of its track without nesting goes to an additional track of the same thread or stream. Only the compressed
/// data is kept in memory.
/// @param trace  with times within 2^61 ns of 0
/// @throws       UsageError  for a trace of over 13 days, because JSON numbers cannot distinguish its nanoseconds
[[nodiscard]] std::string pack_trace(const Trace& trace, const TraceFacts& facts = {});

/// Writes the trace to a file, which is replaced atomically (write_atomically).
/// @throws  UsageError         as in pack_trace
/// @throws  std::system_error  naming the path and the cause
void write_trace_file(const std::string& path, const Trace& trace, const TraceFacts& facts = {});

/// Reads a file of write_trace_file, compressed or not. The result equals the written trace with three exceptions.
/// Calls and ranges are ordered by start, and for equal starts by descending end. Only the first of several equal names
/// is used. Bytes of names that are not valid UTF-8 are replaced.
/// @param path  the file, or a folder that has it as kTraceFileName
/// @throws      UsageError  naming the file, the position and the remedy, if the file cannot be read, is truncated, is
///                          not a trace of this program, or has an event with a missing or invalid field
[[nodiscard]] TraceFile read_trace_file(const std::string& path);

}  // namespace tbench::profile

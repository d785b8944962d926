// The events that a tracer recorded (CUPTI in this process, or Nsight Systems in an export): GPU operations, calls of
// the CUDA API, and ranges. The structures only hold the data; profile.hpp analyses them.
//
// Times are nanoseconds of one clock with any origin. Names are indexes into Trace::names. An operation belongs to the
// call with the same process and correlation.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tbench::profile {

using Index = std::uint32_t;
inline constexpr Index kNone = std::numeric_limits<Index>::max();

enum class OperationKind : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kGraph,  // the replay of a CUDA graph that was traced as a whole
};

struct Operation {
  std::int64_t start_ns{};
  std::int64_t end_ns{};       // at least start_ns
  std::int64_t bytes{};        // size of a copy or fill
  std::uint64_t graph_node{};  // node of a CUDA graph; 0 if there is none or it is unknown
  Index name{};
  std::uint32_t correlation{};
  std::uint32_t stream{};
  std::uint16_t process{};  // counted from 0
  std::uint16_t device{};   // number of the device in the process
  OperationKind kind{};
  bool operator==(const Operation&) const = default;
};

/// A call of the runtime or the driver.
struct ApiCall {
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  Index name{};
  Index thread{};
  std::uint32_t correlation{};
  bool operator==(const ApiCall&) const = default;
};

/// A range as NVTX defines it: from a push to its pop, or from a start to its end.
struct Range {
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  Index name{};
  Index thread{};        // thread that pushed or started it
  bool is_of_process{};  // a start/end range: it encloses the work of all threads of the process
  bool operator==(const Range&) const = default;
};

struct Thread {
  std::uint16_t process{};
  std::uint64_t id{};  // as the tracer recorded it
  bool operator==(const Thread&) const = default;
};

struct Trace {
  std::vector<std::string> names;
  std::vector<Thread> threads;
  std::vector<Operation> operations;  // ordered by start
  std::vector<ApiCall> calls;         // in any order
  std::vector<Range> ranges;          // in any order
  bool operator==(const Trace&) const = default;
};

}  // namespace tbench::profile

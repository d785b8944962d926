// Traces the steps of a case through CUPTI on a GPU. Keeps what a study shows of one trace, and for --tb_profile=DIR
// writes the traces to a folder per case, which `tbench profile` reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/process/descriptor.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::bench {

// Tracing through CUPTI, with marks for a profiler that uses CUPTI itself.

/// Receives the counted steps of a trace (cut_steps), their profile, and their number. Must not throw.
using TraceSink = std::function<void(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps)>;

/// Makes a tracer that calls cudaProfilerStart() and cudaProfilerStop() around the traced steps:
/// `nsys profile --capture-range=cudaProfilerApi` then captures exactly these steps. An attached profiler keeps CUPTI
/// to itself: the steps run for the profiler, and stop() throws a std::runtime_error that names it.
/// @param sink  receives the trace; may be empty
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_cupti_step_tracer(TraceSink sink);

// The complete traces of --tb_profile=DIR: a folder per case, which `tbench profile` reads.

/// Makes the folder if it does not exist, checks that it is writable, and locks it against another run.
/// @return  owner of the lock, which a process loses when it ends
/// @throws  UsageError  naming the flag, the folder and the problem
[[nodiscard]] process::UniqueDescriptor take_profile_root(const std::string& root);

/// Returns the case's name as a folder name: `Model/size:small` becomes `Model_size=small`.
[[nodiscard]] std::string profile_folder_name(const CaseId& id);

/// The traced steps and the memory log of one case: files, and timelines for its records.
class CaseProfile {
 public:
  /// Determines the case's folder; write() makes it.
  /// @param root    the folder given to take_profile_root()
  /// @param gpu     name of the GPU
  /// @param phases  names of the case's phases; the characters outlive this object
  CaseProfile(const std::string& root, const CaseId& id, std::string gpu, std::span<const std::string_view> phases);

  /// Writes the trace, replacing files of an earlier run or repetition. A failure does not fail the case, whose times
  /// are already taken; problem() returns the reason.
  /// @param trace    result of cut_steps()
  /// @param profile  profile of `trace`
  void write(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps);
  /// Keeps the timelines of the trace and of the log for add_timelines().
  void keep_timeline(const profile::Trace& trace);
  void keep_timeline(const AllocationLog& log, std::span<const LoggedStep> steps);
  /// Gives the timelines to the records of the case that have a trace and memory.
  void add_timelines(std::span<Record> records) const;
  /// Keeps the log of the memory pass until write().
  void keep_memory(const AllocationLog& log, std::span<const LoggedStep> steps);
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::string folder_;
  std::string case_name_;
  std::string gpu_;
  std::span<const std::string_view> phases_;
  AllocationLog memory_;
  std::vector<LoggedStep> memory_steps_;
  std::optional<StepTimeline> layer_;
  std::optional<MemoryTimeline> memory_timeline_;
  std::optional<std::string> problem_;
};

}  // namespace tbench::bench

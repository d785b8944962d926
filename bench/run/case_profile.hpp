// The traced steps of a case: traced through CUPTI on a GPU, and kept where --tb_profile=DIR asks for it, a folder per
// case, which `tbench profile` reads.
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
#include "tbench/measure/step_tracer.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::bench {

// Traces steps on a GPU through CUPTI, and marks them for a profiler that has CUPTI itself.

/// Gets the traced steps that count (cut_steps), what they come to, and how many they are. Must not throw.
using TraceSink = std::function<void(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps)>;

/// Between start() and stop() lie cudaProfilerStart() and cudaProfilerStop(), so that
/// `nsys profile --capture-range=cudaProfilerApi` captures exactly these steps. A profiler that is attached has CUPTI
/// for itself: the steps run for it, and stop() throws std::runtime_error that names it.
/// @param sink  may be empty
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_cupti_step_tracer(TraceSink sink);

// The whole traces of --tb_profile=DIR: a folder per case, which `tbench profile` reads.

/// Makes the folder where there is none, and looks whether it can be written.
/// @throws  UsageError  naming the flag, the folder and the problem
void make_profile_root(const std::string& root);

/// Returns the case's name in the form of a folder's name: `Model/size:small` is `Model_size=small`.
[[nodiscard]] std::string profile_folder_name(const CaseId& id);

/// Writes the traced steps of one case.
class CaseProfile {
 public:
  /// @param root    of make_profile_root
  /// @param gpu     its name
  /// @param phases  of the case; what they point to outlives this
  CaseProfile(const std::string& root, const CaseId& id, std::string gpu, std::span<const std::string_view> phases);

  /// Replaces what an earlier run, or an earlier repetition, left there. What goes wrong does not end the case, whose
  /// times are taken: problem() tells it.
  /// @param trace    of cut_steps
  /// @param profile  of `trace`
  void write(const profile::Trace& trace, const profile::Profile& profile, std::int64_t steps);
  /// Written with the trace, which comes later.
  void keep_memory(const AllocationLog& log, std::span<const LoggedStep> steps);
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::string folder_;
  std::string case_name_;
  std::string gpu_;
  std::span<const std::string_view> phases_;
  AllocationLog memory_;
  std::vector<LoggedStep> memory_steps_;
  std::optional<std::string> problem_;
};

}  // namespace tbench::bench

// Runs one case and returns its records, in this process or in a child process that may crash or hang alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::bench {

/// Receives the current activity of a case: "building", "verifying", "warming up", "sampling", "verifying a timed
/// launch", "measuring memory", "tracing", "verifying again".
using ProgressCallback = measure::ProgressCallback;
/// Whether the user asked to stop.
using StopRequested = std::function<bool()>;

class CaseRunner {
 public:
  virtual ~CaseRunner() = default;
  /// Returns the environment of the cases. A supervised runner starts its child process for this.
  /// @throws  std::runtime_error  if that fails; UsageError  if the machine is not the one that was asked for
  [[nodiscard]] virtual const Environment& environment() = 0;
  /// Returns one record per repetition; empty if the user asked to stop before the case was done. Never throws because
  /// of the case itself.
  [[nodiscard]] virtual std::vector<Record> run(const CaseId& id, const ProgressCallback& activity,
                                                const StopRequested& stop) = 0;
  /// Returns the record of a case that cannot run here (Case::unsupported_reason()) without running it; nullopt if it
  /// can run, or if only run() can tell.
  [[nodiscard]] virtual std::optional<Record> refusal(const CaseId& /*id*/, const StopRequested& /*stop*/) {
    return std::nullopt;
  }
  /// Makes the next case run in a process that has measured nothing before.
  /// @throws  std::logic_error  if cases run in this process
  virtual void renew_process() = 0;
  /// Starts the process that renew_process() will need, as far as this does not disturb a running case.
  virtual void prepare_process() {}
  /// Ends the runner's processes and counts the compute processes that then use the GPU.
  /// @return  nullopt without a GPU, if the driver does not report processes, or if the cases ran in this process,
  /// which
  ///          then uses the GPU itself
  [[nodiscard]] virtual std::optional<std::int64_t> end_and_count_other_processes() { return std::nullopt; }
};

/// Returns the record of a case that failed without a time.
[[nodiscard]] inline Record failed_record(const CaseId& id, Status status, const std::string& reason) {
  Record record;
  record.id = id;
  record.status = status;
  record.reason = reason;
  return record;
}

}  // namespace tbench::bench

// Runs one case and returns its records: in this process, or in a child that may crash or hang alone. That child's side
// of it, and Ctrl-C as a flag that the measuring code of both asks for between chunks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/families/family.hpp"
#include "bench/options.hpp"
#include "tbench/core/case.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::bench {

/// Told what a case is doing: "building", "verifying", "warming up", "sampling", "verifying a timed launch", "measuring
/// memory", "tracing", "verifying again".
using Activity = std::function<void(std::string_view)>;
/// Whether the user asked to stop.
using StopRequested = std::function<bool()>;

class RankMeasurement;

class CaseRunner {
 public:
  virtual ~CaseRunner() = default;
  /// Returns the environment of the cases. A supervised runner starts its child to find out.
  /// @throws  std::runtime_error  if that fails; UsageError if the machine is not what was asked for
  [[nodiscard]] virtual const Environment& environment() = 0;
  /// One record a repetition; empty if the user asked to stop before the case was done. Never throws for what a case
  /// does.
  [[nodiscard]] virtual std::vector<Record> run(const CaseId& id, const Activity& activity,
                                                const StopRequested& stop) = 0;
  /// A record of a case that cannot run here (Case::unsupported_reason()), without running it; nothing where it can, or
  /// where only run() can tell.
  [[nodiscard]] virtual std::optional<Record> refusal(const CaseId& /*id*/, const StopRequested& /*stop*/) {
    return std::nullopt;
  }
  /// Makes the next case run in a process that has measured nothing before.
  /// @throws  std::logic_error  where cases run in this process
  virtual void renew_process() = 0;
  /// Starts the process that renew_process() will need, as far as that disturbs no case.
  virtual void prepare_process() {}
};

class LocalRunner final : public CaseRunner {
 public:
  /// @throws  UsageError  for --tb_device=cuda without a GPU, as refuse_gpu_options, --tb_memory_limit above the GPU's
  ///                      memory, --tb_require_exclusive beside other processes
  LocalRunner(std::vector<Family> families, const Options& options);

  const Environment& environment() override { return environment_; }
  std::vector<Record> run(const CaseId& id, const Activity& activity, const StopRequested& stop) override;
  std::optional<Record> refusal(const CaseId& id, const StopRequested& stop) override;
  void renew_process() override;
  /// Whether the process can measure another case: a CUDA context that a kernel has poisoned cannot.
  [[nodiscard]] bool is_fit() const;

 private:
  [[nodiscard]] std::unique_ptr<Case> make_case(const CaseId& id, RankMeasurement* ranks) const;
  [[nodiscard]] measure::SamplerOptions sampler_of(const CaseId& id);
  /// @param ranks  null: this process by itself
  [[nodiscard]] std::vector<Record> measure(const CaseId& id, const Activity& activity, const StopRequested& stop,
                                            RankMeasurement* ranks);

  std::vector<Family> families_;
  Options options_;
  bool on_gpu_;
  Environment environment_;
  std::optional<Seconds> context_time_;  // absent on the CPU
  std::unique_ptr<measure::Timer> timer_;
  std::unique_ptr<measure::ClockMonitor> monitor_;
  std::unique_ptr<MemoryProbe> memory_;  // null on the CPU
  std::set<std::string> measured_families_;
};

/// The error for --tb_device=cuda without a GPU.
[[nodiscard]] UsageError no_cuda_device();

/// Refuses options for cases that run on the CPU.
/// @throws  UsageError  for a flag that only a GPU can serve: --tb_l2, --tb_trace=on or what implies it,
///                      --tb_memory_limit
void refuse_gpu_options(const Options& options);

/// The limits of warm-up and sampling that the options ask for.
/// @param suite  smoke shortens both: it checks the machinery, and its numbers are for nothing else
[[nodiscard]] measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime);

/// The file that this process executes, whatever has become of its name meanwhile: what children of it are started
/// from.
inline constexpr const char* kOwnExecutable = "/proc/self/exe";
/// The path of that file when the process began, for messages and for lists of processes.
[[nodiscard]] std::string own_program();

/// Runs cases in children of this program's own executable, started with the same arguments. A case for which a child
/// is started that is not as the first one (another build, GPU or version of a library) throws std::runtime_error.
[[nodiscard]] std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options,
                                                                 std::vector<std::string> arguments);

/// Serves requests until the parent closes the pipe, or a case has poisoned the CUDA context.
/// @return  exit status
int run_worker(std::vector<Family> families, const Options& options);

/// Makes SIGINT and SIGTERM set the flag from now on; a second one ends the program at once.
void catch_stop_signals();
[[nodiscard]] bool stop_signalled();
/// Sets the flag, as the first signal does.
void request_stop();

}  // namespace tbench::bench

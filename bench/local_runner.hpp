// Measures cases in this process: owns the timer, the clock monitor and the allocator's probe.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "case_runner.hpp"
#include "family.hpp"
#include "options.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/memory_probe.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::bench {

class LocalRunner final : public CaseRunner {
 public:
  /// @throws  UsageError  for --tb_device=cuda without a GPU, --tb_l2 without one, --tb_require_exclusive beside other
  ///                      processes
  LocalRunner(std::vector<Family> families, const Options& options);

  const Environment& environment() override { return environment_; }
  std::vector<Record> run(const CaseId& id, const Activity& activity, const StopRequested& stop) override;
  void renew_process() override;
  /// Whether the process can measure another case: a CUDA context that a kernel has poisoned cannot.
  [[nodiscard]] bool is_fit() const;

 private:
  std::vector<Family> families_;
  Options options_;
  bool on_gpu_;
  Environment environment_;
  std::optional<Seconds> context_time_;  // absent on the CPU
  std::unique_ptr<measure::Timer> timer_;
  std::unique_ptr<measure::ClockMonitor> monitor_;
  std::unique_ptr<MemoryProbe> memory_;  // null on the CPU
};

/// What to throw where --tb_device=cuda finds no GPU.
[[nodiscard]] UsageError no_cuda_device();

/// What to throw for --tb_l2 where the cases run on the CPU.
[[nodiscard]] UsageError no_l2_control(L2State l2);

/// The limits of warm-up and sampling that the options ask for.
/// @param suite  smoke shortens both: it checks the machinery, and its numbers are for nothing else
[[nodiscard]] measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime);

}  // namespace tbench::bench

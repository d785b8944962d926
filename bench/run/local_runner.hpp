// Runs cases in this process: in a worker, or in the program itself with --tb_isolate=none.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"
#include "bench/plan/study_cases.hpp"
#include "bench/run/case_runner.hpp"
#include "tbench/core/case.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::bench {

class RankMeasurement;

class LocalRunner final : public CaseRunner {
 public:
  /// Collects the environment and makes the instruments.
  /// @throws  UsageError  for --tb_device=cuda without a GPU, for --tb_memory_limit above the GPU's memory, for
  ///                      --tb_require_exclusive if other processes use the GPU, and as refuse_gpu_options()
  LocalRunner(std::vector<Family> families, const Options& options);

  const Environment& environment() override { return environment_; }
  std::vector<Record> run(const CaseId& id, const ProgressCallback& activity, const StopRequested& stop) override;
  std::optional<Record> refusal(const CaseId& id, const StopRequested& stop) override;
  void renew_process() override;
  /// Whether the process can measure another case; false if a kernel has corrupted the CUDA context.
  [[nodiscard]] bool is_fit() const;

 private:
  [[nodiscard]] std::unique_ptr<Case> make_case(const CaseId& id, RankMeasurement* ranks) const;
  [[nodiscard]] measure::SamplerOptions sampler_of(const CaseId& id);
  /// Measures a case, by itself or together with other ranks.
  /// @param ranks  the part of this rank; null for a single process
  [[nodiscard]] std::vector<Record> measure(const CaseId& id, const ProgressCallback& activity,
                                            const StopRequested& stop, RankMeasurement* ranks);

  std::vector<Family> families_;
  Options options_;
  bool on_gpu_;
  Environment environment_;
  std::optional<Seconds> context_time_;  // absent on the CPU
  std::unique_ptr<measure::Timer> timer_;
  std::unique_ptr<measure::ClockMonitor> monitor_;
  std::unique_ptr<MemoryProbe> memory_;  // null on the CPU
  std::set<std::string> measured_families_;
  StudyProtocols protocols_;  // empty for a suite
};

}  // namespace tbench::bench

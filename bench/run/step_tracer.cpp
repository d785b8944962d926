#include "bench/run/case_profile.hpp"

#include <cuda_profiler_api.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tbench/capture/tracer.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/model/backward_ranges.hpp"
#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/step_summary.hpp"

namespace tbench::bench {
namespace {

class CuptiStepTracer final : public measure::StepTracer {
 public:
  explicit CuptiStepTracer(TraceSink sink) : sink_{std::move(sink)} {}

  void start() override {
    taken_.reset();
    counters_.clear();
    try {
      tracer_ = std::make_unique<capture::Tracer>();
      tracer_->start();
    } catch (const capture::CuptiTaken& taken) {
      taken_ = taken.what();
    }
    credited_ = std::make_unique<model::BackwardRanges>();
    TBENCH_CUDA_CHECK(cudaProfilerStart());
    is_started_ = true;
  }

  [[nodiscard]] std::int64_t now_ns() const override { return taken_ ? 0 : capture::Tracer::now_ns(); }

  [[nodiscard]] StepTrace stop(std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                               Regime regime) override {
    credited_.reset();
    if (taken_) {
      TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
      cancel();
      throw std::runtime_error{*taken_};
    }
    const capture::CapturedTrace captured = tracer_->stop();
    cancel();
    StepTrace summary =
        profile::summarise_steps(captured.trace, profile::KernelRules::built_in(), steps, phases, regime);
    summary.dropped = captured.dropped;
    const profile::Trace counted = profile::cut_steps(captured.trace, steps, phases);
    const profile::Profile profile = profile::analyse(counted, profile::KernelRules::built_in());
    profile::add_ranges(summary, profile, summary.steps, phases, regime);
    count_communication(counted, summary.steps);
    if (sink_) sink_(counted, profile, summary.steps);
    return summary;
  }

  [[nodiscard]] std::map<std::string, double> counters() const override { return counters_; }

  void cancel() noexcept override {
    credited_.reset();
    tracer_.reset();
    if (is_started_) static_cast<void>(cudaProfilerStop());
    is_started_ = false;
  }

 private:
  void count_communication(const profile::Trace& counted, std::int64_t steps) {
    constexpr double kNanosecondsPerMillisecond = 1e6;
    const auto exposure = profile::communication_of(counted, profile::KernelRules::built_in());
    if (!exposure) return;
    const double scale = kNanosecondsPerMillisecond * static_cast<double>(steps);
    counters_["communication_ms"] = static_cast<double>(exposure->total_ns) / scale;
    counters_["exposed_communication_ms"] = static_cast<double>(exposure->exposed_ns) / scale;
  }

  TraceSink sink_;
  std::unique_ptr<capture::Tracer> tracer_;
  std::unique_ptr<model::BackwardRanges> credited_;  // forwards ranges to the tracer
  std::optional<std::string> taken_;                 // message that names the other tool, if one uses CUPTI
  bool is_started_{};
  std::map<std::string, double> counters_;
};

}  // namespace

std::unique_ptr<measure::StepTracer> make_cupti_step_tracer(TraceSink sink) {
  return std::make_unique<CuptiStepTracer>(std::move(sink));
}

}  // namespace tbench::bench

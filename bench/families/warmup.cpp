// The Warmup family: the first steps of a new process, as a measurement with too little warm-up sees them. Its cases
// are cases of the Model family with exact numbers of warm-up steps and timed steps.
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/capture/driver_calls.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::bench::warmup_family {
namespace {

using Values = std::vector<std::string>;

/// Host time of the first step, and its part inside the CUDA driver, by class of calls (CUPTI). The classes are loading
/// of modules and kernels, including the kernels of cuBLAS, memory, and launches. The first launch of a kernel also
/// loads it. The rest is ATen's dispatch, autograd, and the libraries' selection of kernels. The device works at the
/// same time, so the parts belong to the host's side of `first_ms`, not to `first_ms` itself.
struct FirstStep {
  Seconds enqueue;
  capture::DriverTimes driver;
};

/// A model case for the first steps of a process. It is verified after timing: a verification before it would warm it
/// up.
class WarmupCase final : public Case {
 public:
  /// Wraps a case of the Model family.
  /// @param context_time  time the process took to make its CUDA context; absent on the CPU
  WarmupCase(std::unique_ptr<Case> model, std::optional<Seconds> context_time)
      : model_{std::move(model)}, context_time_{context_time} {}

  std::optional<std::string> unsupported_reason() const override { return model_->unsupported_reason(); }
  std::int64_t min_bytes() const override { return model_->min_bytes(); }
  void build() override {
    if (context_time_) driver_calls_.emplace();
    model_->build();
  }
  /// Verifies with the weights from before the timed steps.
  Verification verify() override {
    driver_calls_.reset();
    model_->build();
    return model_->verify();
  }
  bool verifies_last() const override { return true; }
  std::span<const std::string_view> phases() const override { return model_->phases(); }
  void launch(PhaseMarker& marker) override {
    if (!driver_calls_ || first_step_) return model_->launch(marker);
    driver_calls_->start();
    const auto begin = std::chrono::steady_clock::now();
    model_->launch(marker);
    const std::chrono::duration<double> enqueue = std::chrono::steady_clock::now() - begin;
    driver_calls_->stop();
    first_step_ = FirstStep{.enqueue = {enqueue.count()}, .driver = driver_calls_->times()};
  }
  Work work() const override { return model_->work(); }
  std::vector<LiveTensor> live_tensors() const override { return model_->live_tensors(); }
  std::map<std::string, double> counters() override {
    std::map<std::string, double> counters = model_->counters();
    if (context_time_) counters["context_ms"] = to_milliseconds(*context_time_);
    if (first_step_) add_first_step(counters);
    return counters;
  }

 private:
  void add_first_step(std::map<std::string, double>& counters) const {
    using enum capture::DriverCallClass;
    Seconds rest = first_step_->enqueue;
    for (const capture::DriverTime& driver : first_step_->driver) rest = rest - driver.time;
    const auto milliseconds = [&](capture::DriverCallClass call_class) {
      return to_milliseconds(first_step_->driver.at(static_cast<std::size_t>(call_class)).time);
    };
    counters["first_enqueue_ms"] = to_milliseconds(first_step_->enqueue);
    counters["first_loading_ms"] = milliseconds(kLoading);
    counters["first_allocation_ms"] = milliseconds(kAllocation);
    counters["first_launch_ms"] = milliseconds(kLaunch);
    counters["first_driver_rest_ms"] = milliseconds(kContext) + milliseconds(kOther);
    counters["first_host_ms"] = to_milliseconds(rest);
  }

  std::unique_ptr<Case> model_;
  std::optional<Seconds> context_time_;
  std::optional<capture::DriverCalls> driver_calls_;  // only on a GPU, and only until verify()
  std::optional<FirstStep> first_step_;
};

std::vector<Axis> axes(Values size, std::string ctx, Values pass, Values steps, Values warmup) {
  return {{"size", std::move(size)},   {"ctx", {std::move(ctx)}},    {"batch", {"4"}},
          {"pass", std::move(pass)},   {"precision", {"fp32"}},      {"impl", {"eager"}},
          {"steps", std::move(steps)}, {"warmup", std::move(warmup)}};
}

std::vector<CaseTable> tables() {
  return {{"first_steps", Suite::kSmoke, true, axes({"tiny"}, "64", {"train_step"}, {"10"}, {"0"})},
          {"first_steps", Suite::kStandard, true,
           axes({"small"}, "512", {"forward", "forward_backward"}, {"10"}, {"0", "5"})},
          {"first_steps", Suite::kFull, true,
           axes(course_size_names(), "512", {"forward", "forward_backward"}, {"10"}, {"0", "1", "2", "5", "10"})},
          {"more_steps", Suite::kFull, false,
           axes({"small"}, "512", {"forward", "forward_backward"}, {"30"}, {"0", "1", "2", "5", "10"})}};
}

Family make_family(std::span<const ModelSize> extra_sizes) {
  Family model = bench::make_family("Model", extra_sizes);
  std::vector<KeySpec> keys = std::move(model.spec.keys);
  // First steps cannot be graph replays. Their models are whole.
  std::erase_if(keys, [](const KeySpec& key) { return key.key == "exec" || key.key == kLayersKey; });
  keys.push_back({"steps", {}});
  keys.push_back({"warmup", {"0", "1", "2", "3", "5", "10", "20", "50", "100"}});
  return {.spec = {.name = "Warmup", .keys = std::move(keys), .tables = tables(), .invalid_reason = {}},
          .make_case = [make_model = std::move(model.make_case)](const CaseId& id,
                                                                 const CaseContext& context) -> std::unique_ptr<Case> {
            return std::make_unique<WarmupCase>(make_model(id, context), context.context_time);
          },
          .precision = std::move(model.precision),
          .prescribe =
              [](const CaseId& id, measure::SamplerOptions& sampler) {
                sampler.fixed_warm_up = id.int_at("warmup");
                sampler.fixed_samples = id.int_at("steps");
              },
          .needs_fresh_process = true};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "Warmup", .order = 70, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::warmup_family

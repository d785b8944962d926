// What work costs that does nothing: a kernel's launch, two events, the dispatch of an operation by the host.
#include <ATen/ops/add.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "parts.hpp"
#include "tbench/core/statistics.hpp"
#include "tbench/kernels/ceiling.hpp"
#include "tbench/model/compare.hpp"
#include "tbench/model/execution_scope.hpp"
#include "tbench/model/operation/data.hpp"

namespace tbench::model {
namespace {

/// One thread that adds one to a counter.
class LaunchCeiling final : public Operation {
 public:
  explicit LaunchCeiling(CeilingConfig config) : config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] Work work() const override { return {}; }

 private:
  void do_build() override {
    counter_ = at::zeros({1}, at::TensorOptions{}.device(torch_device(config_.device)).dtype(at::kInt));
  }
  Verification do_verify() override {
    constexpr std::int32_t kBefore = 40;
    counter_.fill_(kBefore);
    do_launch();
    do_launch();
    const auto after = counter_.item<std::int32_t>();
    const bool passed = after == kBefore + 2;
    return {.passed = passed,
            .reference = "a counter after two launches",
            .worst_error = passed ? 0 : kWorstErrorCap,
            .worst_where = {},
            .message = passed ? "" : fmt::format("two launches took the counter from {} to {}", kBefore, after)};
  }
  void do_launch() override {
    kernels::increment(reinterpret_cast<std::uint32_t*>(counter_.mutable_data_ptr<std::int32_t>()),
                       c10::cuda::getCurrentCUDAStream());
  }

  CeilingConfig config_;
  at::Tensor counter_;  // int32 [1]
};

/// Nothing: what is timed are the two events around it.
class EventCeiling final : public Operation {
 public:
  explicit EventCeiling(CeilingConfig config) : config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] Work work() const override { return {}; }

 private:
  void do_build() override {}
  Verification do_verify() override {
    return {
        .passed = true, .reference = "none: nothing is computed", .worst_error = 0, .worst_where = {}, .message = {}};
  }
  void do_launch() override {}

  CeilingConfig config_;
};

/// Small additions one after the other, each of the last one's result: x + y, (x + y) + y, ... The host's own time of
/// each is a counter, which holds nothing of events.
class DispatchCeiling final : public Operation {
 public:
  explicit DispatchCeiling(CeilingConfig config) : config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    return device_unsupported_reason(config_.device, Precision::kFp32);
  }
  [[nodiscard]] Work work() const override { return {}; }
  [[nodiscard]] std::map<std::string, double> counters() override {
    std::map<std::string, double> counters{{"dispatches_per_step", static_cast<double>(count())}};
    if (!seconds_.empty()) counters["dispatch_us"] = median(seconds_) / static_cast<double>(count()) * 1e6;
    return counters;
  }

 private:
  static constexpr std::int64_t kElements = 1024;

  [[nodiscard]] std::int64_t count() const { return ceiling_sizes(config_).dispatches; }

  void do_build() override {
    count_ = count();
    x_ = seeded_normal({kElements}, at::kFloat, config_.device, config_.seed, 0);
    y_ = seeded_normal({kElements}, at::kFloat, config_.device, config_.seed, 1);
  }
  Verification do_verify() override {
    do_launch();
    const at::Tensor reference = x_.to(at::kDouble).add(y_.to(at::kDouble), static_cast<double>(count_));
    // Of n float32 additions each rounds a sum that has grown: n / 2 times 2^-24 of the last one, at most.
    const double rounding = static_cast<double>(count_) * 0x1p-24;
    Comparison comparison;
    comparison.add("sum", result_, reference, {.relative = rounding, .of_rms = rounding});
    seconds_.clear();
    return comparison.finish("float64");
  }
  void do_launch() override {
    const auto begin = std::chrono::steady_clock::now();
    at::Tensor sum = x_;
    for (std::int64_t i = 0; i < count_; ++i) sum = at::add(sum, y_);
    seconds_.push_back(std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count());
    result_ = std::move(sum);
  }

  CeilingConfig config_;
  std::int64_t count_{};
  at::Tensor x_, y_, result_;    // [kElements]
  std::vector<double> seconds_;  // of the host, one a launch
};

}  // namespace

std::unique_ptr<Operation> make_launch_ceiling(const CeilingConfig& config) {
  return std::make_unique<LaunchCeiling>(config);
}

std::unique_ptr<Operation> make_event_ceiling(const CeilingConfig& config) {
  return std::make_unique<EventCeiling>(config);
}

std::unique_ptr<Operation> make_dispatch_ceiling(const CeilingConfig& config) {
  return std::make_unique<DispatchCeiling>(config);
}

}  // namespace tbench::model

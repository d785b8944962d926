// The ceilings that involve the host. Some measure the cost of work that does nothing: a kernel's launch, two events,
// the gap between kernels, and the dispatch of an operation. The others copy between host and device, from and to
// page-locked and pageable memory.
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "model/operations/ceiling/parts.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/ceiling.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::model {
namespace {

/// Launches a kernel of one thread, which adds one to a counter.
class LaunchCeiling final : public OperationCase {
 public:
  explicit LaunchCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] Work work() const override { return {}; }

 private:
  void do_build() override {
    counter_ = at::zeros({1}, at::TensorOptions{}.device(torch_device(config_.device)).dtype(at::kInt));
  }
  Verification do_verify() override {
    constexpr std::int32_t kBefore = 40;
    counter_.fill_(kBefore);
    enqueue();
    enqueue();
    const auto after = counter_.item<std::int32_t>();
    const bool passed = after == kBefore + 2;
    return {.passed = passed,
            .reference = "a counter after two launches",
            .worst_error = passed ? 0 : kWorstErrorCap,
            .worst_where = {},
            .message = passed ? "" : fmt::format("two launches took the counter from {} to {}", kBefore, after)};
  }
  void enqueue() override {
    kernels::increment(reinterpret_cast<std::uint32_t*>(counter_.mutable_data_ptr<std::int32_t>()),
                       c10::cuda::getCurrentCUDAStream());
  }

  CeilingConfig config_;
  at::Tensor counter_;  // int32 [1]
};

/// Launches consecutive kernels, each of which spins longer than the host needs to launch one, so that the queue is
/// never empty. Their time by events, less their time by a trace, is the time of the gaps.
class QueueGapCeiling final : public OperationCase {
 public:
  explicit QueueGapCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] Work work() const override { return {}; }

 private:
  static constexpr std::int32_t kKernels = 64;
  static constexpr std::int64_t kCycles = 24'000;  // some 12 us at 2 GHz; a launch takes a slow host 6
  static constexpr int kBlocksPerMultiprocessor = 4;

  void do_build() override {
    blocks_ = kBlocksPerMultiprocessor * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    counter_ = at::zeros({1}, at::TensorOptions{}.device(torch_device(config_.device)).dtype(at::kInt));
  }
  Verification do_verify() override {
    counter_.fill_(-kKernels + 1);
    enqueue();
    return verify_equal("counter", counter_, at::ones_like(counter_), "a counter of the kernels");
  }
  void enqueue() override {
    auto* const counter = reinterpret_cast<std::uint32_t*>(counter_.mutable_data_ptr<std::int32_t>());
    for (int i = 0; i < kKernels; ++i) {
      kernels::increment_after(kCycles, blocks_, counter, c10::cuda::getCurrentCUDAStream());
    }
  }

  CeilingConfig config_;
  int blocks_{};
  at::Tensor counter_;  // int32 [1]
};

/// Enqueues no work, so that only the two events around it are timed.
class EventCeiling final : public OperationCase {
 public:
  explicit EventCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] Work work() const override { return {}; }

 private:
  void do_build() override {}
  Verification do_verify() override {
    return {
        .passed = true, .reference = "none: nothing is computed", .worst_error = 0, .worst_where = {}, .message = {}};
  }
  void enqueue() override {}

  CeilingConfig config_;
};

/// Enqueues small additions, each of which reads the last one's result: x + y, (x + y) + y, ... The host's own time per
/// addition is a counter, which excludes the cost of events.
class DispatchCeiling final : public OperationCase {
 public:
  explicit DispatchCeiling(CeilingConfig config) : OperationCase{config.device}, config_{std::move(config)} {}
  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    return device_unsupported_reason(config_.device, Precision::kFp32);
  }
  [[nodiscard]] Work work() const override { return {}; }
  [[nodiscard]] std::map<std::string, double> counters() override {
    std::map<std::string, double> counters{{"dispatches_per_step", static_cast<double>(count())}};
    if (!seconds_.empty()) counters["dispatch_us"] = stats::median(seconds_) / static_cast<double>(count()) * 1e6;
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
    enqueue();
    const at::Tensor reference = x_.to(at::kDouble).add(y_.to(at::kDouble), static_cast<double>(count_));
    // Each of n float32 additions rounds a sum that keeps growing: the total error is at most n / 2 times 2^-24 of the
    // final sum.
    const double rounding = static_cast<double>(count_) * 0x1p-24;
    Comparison comparison;
    comparison.add("sum", result_, reference, {.relative = rounding, .of_rms = rounding});
    seconds_.clear();
    return comparison.finish("float64");
  }
  void enqueue() override {
    const auto begin = std::chrono::steady_clock::now();
    at::Tensor sum = x_;
    for (std::int64_t i = 0; i < count_; ++i) sum = at::add(sum, y_);
    seconds_.push_back(std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count());
    result_ = std::move(sum);
  }

  CeilingConfig config_;
  std::int64_t count_{};
  at::Tensor x_, y_, result_;    // [kElements]
  std::vector<double> seconds_;  // time on the host, one per launch
};

/// Launches one cudaMemcpyAsync. For pageable memory the call returns only when the copy is complete, or nearly so,
/// since the driver copies through its own page-locked memory.
class TransferCeiling final : public OperationCase {
 public:
  explicit TransferCeiling(CeilingConfig config)
      : OperationCase{config.device},
        config_{std::move(config)},
        to_device_{config_.what.starts_with("h2d")},
        is_pinned_{config_.what.ends_with("_pinned")} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] std::int64_t min_bytes() const override { return bytes(); }
  [[nodiscard]] Work work() const override { return {.flop = {}, .tokens = 0, .bytes = bytes()}; }

 private:
  [[nodiscard]] std::int64_t bytes() const { return ceiling_sizes(config_).transfer_bytes; }

  void do_build() override {
    device_ = seeded_normal({bytes() / 4}, at::kFloat, config_.device, config_.seed, 0);
    host_ = at::empty(device_.sizes(), at::TensorOptions{}.dtype(at::kFloat).pinned_memory(is_pinned_));
    host_.copy_(device_);
  }
  Verification do_verify() override {
    const at::Tensor expected = host_.clone();
    (to_device_ ? device_ : host_).fill_(std::numeric_limits<float>::quiet_NaN());
    enqueue();
    const at::Tensor seen_on_device = device_.cpu();  // waits for the copy
    return verify_equal("copy", to_device_ ? seen_on_device : host_, expected,
                        "the buffer that was copied, bit by bit");
  }
  void enqueue() override {
    const auto size = static_cast<std::size_t>(device_.nbytes());
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    if (to_device_) {
      TBENCH_CUDA_CHECK(
          cudaMemcpyAsync(device_.mutable_data_ptr(), host_.const_data_ptr(), size, cudaMemcpyHostToDevice, stream));
    } else {
      TBENCH_CUDA_CHECK(
          cudaMemcpyAsync(host_.mutable_data_ptr(), device_.const_data_ptr(), size, cudaMemcpyDeviceToHost, stream));
    }
  }

  CeilingConfig config_;
  bool to_device_, is_pinned_;
  at::Tensor host_, device_;  // [transfer_bytes / 4]
};

}  // namespace

std::unique_ptr<Case> make_launch_ceiling(const CeilingConfig& config) {
  return std::make_unique<LaunchCeiling>(config);
}

std::unique_ptr<Case> make_event_ceiling(const CeilingConfig& config) { return std::make_unique<EventCeiling>(config); }

std::unique_ptr<Case> make_queue_gap_ceiling(const CeilingConfig& config) {
  return std::make_unique<QueueGapCeiling>(config);
}

std::unique_ptr<Case> make_dispatch_ceiling(const CeilingConfig& config) {
  return std::make_unique<DispatchCeiling>(config);
}

std::unique_ptr<Case> make_transfer_ceiling(const CeilingConfig& config) {
  return std::make_unique<TransferCeiling>(config);
}

}  // namespace tbench::model

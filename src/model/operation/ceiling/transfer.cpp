// Copies between host and device, from and to page-locked and pageable memory.
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>
#include <utility>

#include "parts.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/model/operation/data.hpp"
#include "tbench/model/operation/exact.hpp"

namespace tbench::model {
namespace {

/// cudaMemcpyAsync, one a launch. Of pageable memory it returns only when the copy is through, or nearly so: the driver
/// copies by way of its own page-locked memory.
class TransferCeiling final : public Operation {
 public:
  explicit TransferCeiling(CeilingConfig config)
      : config_{std::move(config)},
        to_device_{config_.what.starts_with("h2d")},
        is_pinned_{config_.what.ends_with("_pinned")} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override { return needs_gpu_reason(config_); }
  [[nodiscard]] std::int64_t least_bytes() const override { return bytes(); }
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
    do_launch();
    const at::Tensor seen_on_device = device_.cpu();  // waits for the copy
    return verify_equal("copy", to_device_ ? seen_on_device : host_, expected,
                        "the buffer that was copied, bit by bit");
  }
  void do_launch() override {
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

std::unique_ptr<Operation> make_transfer_ceiling(const CeilingConfig& config) {
  return std::make_unique<TransferCeiling>(config);
}

}  // namespace tbench::model

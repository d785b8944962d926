// AdamW in the two forms that PyTorch has on a GPU, a sequence of multi-tensor operations (foreach, its default) and
// one fused kernel over all parameters, and by our own kernel; and the loss scaling that fp16 training needs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/kernels/adamw.hpp"

namespace tbench::model {

/// kForeachOnDevice counts its steps on the device, as torch.optim.AdamW(foreach=True, capturable=True) does: a CUDA
/// graph would replay the bias correction of the step that it captured. Two more passes over the denominators.
/// kFusedKernel is the kernel of tbench/kernels/adamw.hpp, for float32 on a GPU; it takes bfloat16 gradients, too.
enum class AdamWVariant { kForeach, kForeachOnDevice, kFused, kFusedKernel };

/// Work::optimizer: adamw_foreach of both foreach variants, adamw_fused, adamw_own.
[[nodiscard]] std::string optimizer_name(AdamWVariant variant);

struct AdamWOptions {
  double learning_rate{1e-3};
  double beta1{0.9};
  double beta2{0.999};
  double epsilon{1e-8};
  double weight_decay{0.01};  // decoupled
};

/// @see  Loshchilov and Hutter (arXiv:1711.05101); the sequence of torch.optim.AdamW(foreach=True, capturable=False)
class AdamW {
 public:
  /// Allocates the two moments of each parameter, zero.
  AdamW(std::vector<at::Tensor> parameters, AdamWVariant variant, AdamWOptions options = {});

  /// One step with the parameters' gradients, each of which must be defined. Never synchronises.
  /// @param found_inf  if defined, a float scalar on the device: where it is 1, nothing changes, the step count
  ///                   neither. The foreach operations would need the host to look at it.
  /// @throws           std::invalid_argument for `found_inf` with a foreach variant
  void step(const at::Tensor& found_inf = {});
  class ChunkedStep;
  /// Whether a step can be made in parts.
  [[nodiscard]] bool steps_in_chunks() const { return variant_ == AdamWVariant::kFusedKernel; }
  /// 16-bit copies of the parameters, in their order, which every step is to write: kFusedKernel alone.
  /// @throws  std::invalid_argument  for copies with another variant, or of another number than there are parameters
  void keep_up_to_date(const std::vector<at::Tensor>& copies);
  /// Back to the state before the first step.
  void reset();

  /// The moments of parameter `index`, in the order that the constructor was given.
  [[nodiscard]] const at::Tensor& first_moment(std::size_t index) const { return first_moments_[index]; }
  [[nodiscard]] const at::Tensor& second_moment(std::size_t index) const { return second_moments_[index]; }
  /// The moments and the step count.
  [[nodiscard]] std::vector<at::Tensor> state() const;
  /// Bytes of the moments and the step count.
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  void step_foreach();
  void step_foreach_on_device();
  void step_fused(const at::Tensor& found_inf);
  void step_fused_kernel(const at::Tensor& found_inf);
  /// Updates parameters in a step that is counted already.
  void update(std::span<const std::size_t> parameters, const at::Tensor& found_inf,
              std::optional<int> max_blocks) const;
  void launch_fused_kernel(const std::vector<kernels::AdamWTensor>& tensors, Precision gradients,
                           const at::Tensor& found_inf, std::optional<int> max_blocks) const;

  AdamWVariant variant_;
  AdamWOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> copies_;     // empty or one per parameter
  std::vector<at::Tensor> gradients_;  // filled for the length of a step; a member to keep its capacity
  std::vector<at::Tensor> first_moments_;
  std::vector<at::Tensor> second_moments_;
  std::int64_t steps_{};               // foreach
  at::Tensor device_steps_;            // fused, own: float scalar on the device; on it, foreach: double
  std::vector<at::Tensor> all_steps_;  // fused: the same tensor for every parameter, so that one launch counts for all
};

/// Lives as long as one step: parameters whose gradients there are before the others' are updated beside other work,
/// and the rest at its end. The same bits as AdamW::step() of these gradients.
class AdamW::ChunkedStep {
 public:
  /// Enqueues nothing.
  /// @param optimizer  one that steps in parts, which outlives this
  /// @throws           std::invalid_argument  for another one
  explicit ChunkedStep(AdamW& optimizer);

  /// Updates some parameters on the current stream.
  /// @param parameters  numbers of some that this step has not updated, with gradients
  /// @param max_blocks  each takes a multiprocessor to itself
  /// @throws            std::invalid_argument  for others
  void update(std::span<const std::size_t> parameters, int max_blocks);
  /// Updates all remaining parameters, on the current stream. Called once, at the end of the step; the current stream
  /// must already wait for all earlier updates.
  void finish();

 private:
  void count();

  AdamW& optimizer_;
  std::vector<std::size_t> left_;  // in order
  bool is_counted_{};
};

/// One parameter's value after the first step, in the dtype of the arguments (float64: a reference), computed from the
/// published formula rather than PyTorch's sequence.
[[nodiscard]] at::Tensor adamw_first_step(const at::Tensor& parameter, const at::Tensor& gradient,
                                          const AdamWOptions& options);

/// Loss scaling for fp16: gradients are computed of loss * scale, checked and divided again; a step whose gradients are
/// not finite is skipped on the device, the scale halved. Counts the skips there too: nothing here waits for the
/// device. The constants are the defaults of torch.amp.GradScaler.
class GradScaler {
 public:
  static constexpr double kInitialScale = 65536.0;
  static constexpr double kGrowthFactor = 2.0;
  static constexpr double kBackoffFactor = 0.5;
  static constexpr std::int64_t kGrowthInterval = 2000;  // finite steps before the scale grows

  explicit GradScaler(at::Device device);

  /// loss * scale, differentiable.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;
  /// Divides the gradients by the scale, in place, and notes whether one of them was not finite.
  /// @return  float scalar on the device, 1 or 0, for the optimizer; valid until the next call
  const at::Tensor& unscale(std::vector<at::Tensor>& gradients);
  /// Counts a skip and adapts the scale, after the optimizer's step.
  void update();
  void reset(double scale = kInitialScale);

  /// Float scalar on the device: the scale of the step that is under way.
  [[nodiscard]] const at::Tensor& device_scale() const { return scale_; }
  /// Synchronise.
  [[nodiscard]] double scale() const;
  [[nodiscard]] double skipped_steps() const;

 private:
  at::Tensor scale_;  // float scalar, as are the others; on the device
  at::Tensor found_inf_;
  at::Tensor skipped_;
  at::Tensor growth_tracker_;  // int32
};

}  // namespace tbench::model

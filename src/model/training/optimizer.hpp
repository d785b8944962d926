// AdamW in three forms: PyTorch's sequence of multi-tensor operations (foreach, its default on a GPU), PyTorch's fused
// kernel over all parameters, and our own kernel. Also the loss scaling that fp16 training needs.
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

/// The variants of AdamW. kForeachOnDevice counts its steps on the device, like torch.optim.AdamW(foreach=True,
/// capturable=True); if the host counted, a CUDA graph would replay the bias correction of the captured step. It needs
/// two more passes over the denominators. kFusedKernel is the kernel of tbench/kernels/adamw.hpp, for float32 on a GPU;
/// it takes bfloat16 gradients, too.
enum class AdamWVariant { kForeach, kForeachOnDevice, kFused, kFusedKernel };

/// Returns the name for Work::optimizer: adamw_foreach for both foreach variants, adamw_fused or adamw_own.
[[nodiscard]] std::string optimizer_name(AdamWVariant variant);

struct AdamWOptions {
  double learning_rate{1e-3};
  double beta1{0.9};
  double beta2{0.999};
  double epsilon{1e-8};
  double weight_decay{0.01};  // decoupled
};

/// The AdamW optimizer; kForeach runs the sequence of torch.optim.AdamW(foreach=True, capturable=False).
/// @see  Loshchilov and Hutter (arXiv:1711.05101)
class AdamW {
 public:
  /// Allocates the two moments of each parameter, filled with zeros.
  AdamW(std::vector<at::Tensor> parameters, AdamWVariant variant, AdamWOptions options = {});

  /// Makes one step with the parameters' gradients, all of which must be defined. Never synchronises.
  /// @param found_inf  if defined, a float scalar on the device: if it is 1, neither parameters nor moments nor the
  ///                   step count change. The foreach variants do not support it, since the host would have to read it.
  /// @throws           std::invalid_argument  if `found_inf` is defined for a foreach variant
  void step(const at::Tensor& found_inf = {});
  class ChunkedStep;
  /// Whether ChunkedStep supports the variant.
  [[nodiscard]] bool steps_in_chunks() const { return variant_ == AdamWVariant::kFusedKernel; }
  /// Makes every step also write 16-bit copies of the parameters; kFusedKernel only.
  /// @param copies  one copy per parameter, in the same order; if empty, the call does nothing
  /// @throws        std::invalid_argument  for copies with another variant, or if their number differs from the number
  ///                                          of parameters
  void keep_up_to_date(const std::vector<at::Tensor>& copies);
  /// Restores the state before the first step.
  void reset();

  /// The moments of parameter `index`, in the constructor's order.
  [[nodiscard]] const at::Tensor& first_moment(std::size_t index) const { return first_moments_[index]; }
  [[nodiscard]] const at::Tensor& second_moment(std::size_t index) const { return second_moments_[index]; }
  /// Returns the moments and, if it is on the device, the step count.
  [[nodiscard]] std::vector<at::Tensor> state() const;
  /// Returns the bytes of state().
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  void step_foreach();
  void step_foreach_on_device();
  void step_fused(const at::Tensor& found_inf);
  void step_fused_kernel(const at::Tensor& found_inf);
  /// Updates some parameters, given by their indexes, in a step that is already counted.
  void update(std::span<const std::size_t> parameters, const at::Tensor& found_inf,
              std::optional<int> max_blocks) const;
  void launch_fused_kernel(const std::vector<kernels::AdamWTensor>& tensors, Precision gradients,
                           const at::Tensor& found_inf, std::optional<int> max_blocks) const;

  AdamWVariant variant_;
  AdamWOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> copies_;     // empty, or one copy per parameter
  std::vector<at::Tensor> gradients_;  // filled during a step only; a member to keep its capacity
  std::vector<at::Tensor> first_moments_;
  std::vector<at::Tensor> second_moments_;
  std::int64_t steps_{};               // step count of kForeach
  at::Tensor device_steps_;            // step count on the device: float scalar, double for kForeachOnDevice
  std::vector<at::Tensor> all_steps_;  // device_steps_ once per parameter, so that one launch counts for all
};

/// One optimizer step in several parts: parameters whose gradients are ready early can be updated at the same time as
/// other work, and the remaining ones at the end of the step. Results are bitwise equal to AdamW::step() with the same
/// gradients. The object lives for one step.
class AdamW::ChunkedStep {
 public:
  /// Does not enqueue any work.
  /// @param optimizer  must have steps_in_chunks() and outlive this object
  /// @throws           std::invalid_argument  if the optimizer's steps_in_chunks() is false
  explicit ChunkedStep(AdamW& optimizer);

  /// Updates some parameters on the current stream.
  /// @param parameters  indexes of parameters that have gradients and that this step has not yet updated
  /// @param max_blocks  largest number of CTAs, each of which occupies a whole SM
  /// @throws            std::invalid_argument  if one of the parameters was already updated or does not exist
  void update(std::span<const std::size_t> parameters, int max_blocks);
  /// Updates all remaining parameters, on the current stream. Called once, at the end of the step; the current stream
  /// must already wait for all earlier updates.
  void finish();

 private:
  void count();

  AdamW& optimizer_;
  std::vector<std::size_t> left_;  // indexes of the remaining parameters, ascending
  bool is_counted_{};
};

/// Returns a parameter's value after the first step, computed by the published formula rather than by PyTorch's
/// sequence. The arguments' dtype is used throughout; with float64, the result is a reference.
[[nodiscard]] at::Tensor adamw_first_step(const at::Tensor& parameter, const at::Tensor& gradient,
                                          const AdamWOptions& options);

/// Loss scaling for fp16: gradients are computed from loss * scale, checked and divided by the scale. A step whose
/// gradients are not finite is skipped and counted on the device, and the scale is halved, so that the host never waits
/// for the device. The constants are the defaults of torch.amp.GradScaler.
class GradScaler {
 public:
  static constexpr double kInitialScale = 65536.0;
  static constexpr double kGrowthFactor = 2.0;
  static constexpr double kBackoffFactor = 0.5;
  static constexpr std::int64_t kGrowthInterval = 2000;  // number of finite steps after which the scale grows

  explicit GradScaler(at::Device device);

  /// Returns loss * scale, with autograd.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;
  /// Divides the gradients by the scale in place, and notes whether any element is not finite.
  /// @return  float scalar on the device, 1 or 0, for the optimizer; valid until the next call
  const at::Tensor& unscale(std::vector<at::Tensor>& gradients);
  /// Counts a skipped step and adapts the scale. Called after the optimizer's step.
  void update();
  void reset(double scale = kInitialScale);

  /// The scale of the current step, a float scalar on the device.
  [[nodiscard]] const at::Tensor& device_scale() const { return scale_; }
  /// Return the scale and the number of skipped steps. Both synchronise.
  [[nodiscard]] double scale() const;
  [[nodiscard]] double skipped_steps() const;

 private:
  at::Tensor scale_;  // all members are scalars on the device; float, unless noted
  at::Tensor found_inf_;
  at::Tensor skipped_;
  at::Tensor growth_tracker_;  // int32
};

}  // namespace tbench::model

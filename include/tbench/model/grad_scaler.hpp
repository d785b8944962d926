// Loss scaling for fp16: gradients are computed of loss * scale, checked and divided again; a step whose gradients are
// not finite is skipped on the device, the scale halved. Counts the skips there too: nothing here waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tbench::model {

/// The constants are those of torch.amp.GradScaler.
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

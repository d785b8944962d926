// The part of a training step that only several ranks have: the interface. model/data_parallel/ implements it.
#pragma once

#include <cstdint>
#include <functional>

namespace tbench::model {

/// The gradient synchronization of one trainer, whose step calls it. All ranks make the same calls, in the same order.
/// None synchronises the host with a GPU.
class GradientSync {
 public:
  virtual ~GradientSync() = default;

  /// Before the forward pass: gives up what is left of the step before.
  virtual void begin_step() {}
  /// Runs `backward`, which gives every leaf its gradient, and has the optimizer find the mean over all ranks.
  virtual void average(const std::function<void()>& backward) = 0;
  /// Behind the optimizer: whatever it left to the other ranks.
  virtual void share_parameters() {}

  /// For a check, behind a step: makes the mean the gradient of every leaf, where a step leaves a part of it alone.
  virtual void show_gradients() {}
  /// Bytes of what a rank gives to collective operations in a step.
  [[nodiscard]] virtual std::int64_t step_bytes() const = 0;
  /// Bytes of the buffers that it keeps.
  [[nodiscard]] virtual std::int64_t held_bytes() const = 0;
};

}  // namespace tbench::model

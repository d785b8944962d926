// Interface of the gradient synchronization between ranks in a training step. model/data_parallel/ implements it.
#pragma once

#include <cstdint>
#include <functional>

namespace tbench::model {

/// The gradient synchronization of one trainer; the trainer's step calls it. All ranks make the same calls in the same
/// order. No call synchronises the host with a GPU.
class GradientSync {
 public:
  virtual ~GradientSync() = default;

  /// Releases the previous step's remaining tensors. Called before the forward pass.
  virtual void begin_step() {}
  /// Runs `backward`, which sets the gradient of every leaf, and provides the mean over all ranks to the optimizer.
  virtual void average(const std::function<void()>& backward) = 0;
  /// Exchanges parameters that other ranks have updated, if there are any. Called after the optimizer.
  virtual void share_parameters() {}

  /// Sets the mean as the gradient of every leaf, for a check after a step. Needed where a step provides only a rank's
  /// share of it.
  virtual void show_gradients() {}
  /// Returns the bytes that a rank passes to collective operations in a step.
  [[nodiscard]] virtual std::int64_t step_bytes() const = 0;
  /// Returns the bytes of the buffers that this object keeps.
  [[nodiscard]] virtual std::int64_t held_bytes() const = 0;
};

}  // namespace tbench::model

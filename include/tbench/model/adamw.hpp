// AdamW in the two forms that PyTorch has on a GPU: a sequence of multi-tensor operations (foreach, its default), and
// one fused kernel over all parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tbench::model {

enum class AdamWVariant { kForeach, kFused };

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
  ///                   neither. Only the fused kernel reads it: the foreach operations would need the host to look.
  /// @throws           std::invalid_argument for `found_inf` with foreach
  void step(const at::Tensor& found_inf = {});
  /// Back to the state before the first step.
  void reset();

  [[nodiscard]] const AdamWOptions& options() const { return options_; }
  /// Bytes of the moments and the step count.
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  void step_foreach();
  void step_fused(const at::Tensor& found_inf);

  AdamWVariant variant_;
  AdamWOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;  // filled for the length of a step; a member to keep its capacity
  std::vector<at::Tensor> first_moments_;
  std::vector<at::Tensor> second_moments_;
  std::int64_t steps_{};               // foreach
  at::Tensor device_steps_;            // fused: float scalar on the device
  std::vector<at::Tensor> all_steps_;  // fused: the same tensor for every parameter, so that one launch counts for all
};

/// One parameter's value after the first step, in the dtype of the arguments (float64: a reference), computed from the
/// published formula rather than PyTorch's sequence.
[[nodiscard]] at::Tensor adamw_first_step(const at::Tensor& parameter, const at::Tensor& gradient,
                                          const AdamWOptions& options);

}  // namespace tbench::model

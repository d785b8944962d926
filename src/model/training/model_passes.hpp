// Interface of a model's passes without autograd: written by hand (impl:fused) or compiled ahead of time
// (impl:compiled).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/layers/parameters.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// The results of a step; a timed step releases them immediately.
struct StepOutputs {
  at::Tensor logits;  // [batch, context, vocab_size], as the forward pass returns them, without an autograd graph
  at::Tensor loss;    // scalar, not scaled, without an autograd graph; undefined after a forward pass alone
  // Instead of logits, which are then undefined, from a step that never has all of them at once:
  at::Tensor losses{};  // [batch * context] float32: each token's loss
  at::Tensor lse{};     // [batch * context] float32: log(sum(exp(logits)))
};

/// Bytes that passes hold as long as they live.
struct HeldBytes {
  std::int64_t copies{};
  std::int64_t gradients{};    // gradients that are live at the peak
  std::int64_t activations{};  // all other planned memory, temporaries included
  std::int64_t workspaces{};   // workspaces and tables
  [[nodiscard]] std::int64_t total() const { return copies + gradients + activations + workspaces; }
};

/// Updates leaves on the current stream. Their gradients must be complete, and the step must not read their values any
/// more. Uses at most `max_blocks` CTAs, each of which occupies a whole SM.
using UpdateHook = std::function<void(std::span<const std::size_t> leaves, int max_blocks)>;

/// The passes of one case, made once and called in every step. Calls enqueue on the current stream and never
/// synchronise; all but the first can be captured.
class ModelPasses {
 public:
  virtual ~ModelPasses() = default;

  /// Runs the forward pass alone. The result is valid until the next call of any pass.
  /// @param tokens  [batch, context] int64
  /// @return        logits [batch, context, vocab_size]
  virtual at::Tensor logits(const at::Tensor& tokens) = 0;
  /// Runs the forward pass and the loss, and keeps the tensors that backward() needs.
  virtual StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) = 0;
  /// Sets the grad of every leaf to the gradient of the last loss, times the loss scale. Overwrites old gradients.
  /// @param update  update hook for this step; if empty, no leaf is updated. May be called on another stream, for which
  ///                the current stream waits in the end, and at most once per leaf; the caller updates all other leaves
  virtual void backward(const UpdateHook& update) = 0;
  /// Notifies the passes that parameters have new values that do not come from the optimizer.
  virtual void parameters_changed() = 0;

  /// In a training step, returns a 16-bit copy of each leaf, which the optimizer must keep up to date. Returns an empty
  /// vector if the passes read the leaves.
  [[nodiscard]] virtual const std::vector<at::Tensor>& copies() const = 0;
  /// Returns the held bytes, or nullopt if steps allocate their memory.
  [[nodiscard]] virtual std::optional<HeldBytes> held_bytes() const = 0;
};

/// The arguments of ModelImpl::make_passes.
struct PassesInputs {
  const ModelConfig& config;
  Parameters& parameters;  // must outlive the passes; initialised after the passes are made
  at::Tensor loss_scale;   // float scalar on the device, read in every step; undefined for a scale of 1
};

}  // namespace tbench::model

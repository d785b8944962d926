// A model's passes where autograd does not make them: written out by hand (impl:fused) or compiled ahead of time.
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

/// The results of a step, which a timed step gives back at once.
struct StepOutputs {
  at::Tensor logits;  // [batch, context, vocab_size], as the forward pass returns them, no graph
  at::Tensor loss;    // scalar, not scaled, no graph; undefined after a forward pass alone
};

/// Bytes that passes hold for as long as they live.
struct HeldBytes {
  std::int64_t copies{};
  std::int64_t gradients{};    // those that there are at the peak
  std::int64_t activations{};  // whatever else the plan holds, temporaries too
  std::int64_t workspaces{};   // and tables
  [[nodiscard]] std::int64_t total() const { return copies + gradients + activations + workspaces; }
};

/// Updates leaves whose gradients are whole and whose values the step reads no more, on the current stream, by at most
/// so many blocks, each of which takes a multiprocessor to itself.
using UpdateHook = std::function<void(std::span<const std::size_t> leaves, int max_blocks)>;

/// The passes of one case: made once, called every step. Calls enqueue on the current stream and never synchronise;
/// from the second on they can be captured.
class ModelPasses {
 public:
  virtual ~ModelPasses() = default;

  /// The forward pass alone. What it returns is valid until the next call of any pass.
  /// @param tokens  [batch, context] int64
  /// @return        logits [batch, context, vocab_size]
  virtual at::Tensor logits(const at::Tensor& tokens) = 0;
  /// Forward pass and loss, with whatever backward() needs kept.
  virtual StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) = 0;
  /// Gradients of the last loss, times the loss scale, as the grad of every leaf; what was there is overwritten.
  /// @param update  of this step alone: may be called on a stream beside the current one, which waits for it in the
  ///                end, with each leaf once at the most; the caller updates the others. Empty: nothing is updated
  virtual void backward(const UpdateHook& update) = 0;
  /// Tells the passes that parameters were given new values, and not by the optimizer.
  virtual void parameters_changed() = 0;

  /// In a training step a 16-bit copy of each leaf, which the optimizer is to keep up to date; none where the passes
  /// read the leaves.
  [[nodiscard]] virtual const std::vector<at::Tensor>& copies() const = 0;
  /// Nothing where a step allocates what it needs.
  [[nodiscard]] virtual std::optional<HeldBytes> held_bytes() const = 0;
};

/// The inputs that passes are made from.
struct PassesInputs {
  const ModelConfig& config;
  Parameters& parameters;  // outlive the passes; initialised after they are made
  at::Tensor loss_scale;   // float scalar on the device, read in every step; undefined: 1
};

}  // namespace tbench::model

// A model with its data, optimizer and loss scale, and one step of it: what a case of the
// Model family builds and launches. Its verification is verify_trainer.hpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/layers/parameters.hpp"
#include "model/training/gradient_sync.hpp"
#include "model/training/model_impl.hpp"
#include "model/training/model_passes.hpp"
#include "model/training/optimizer.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// The optimizer that a case takes where its implementation asks for `variant`: in fp16 the fused one for both foreach
/// variants, which cannot skip a step on the device.
[[nodiscard]] AdamWVariant optimizer_variant(const ModelConfig& config, AdamWVariant variant);

class Trainer {
 public:
  /// Allocates everything, then fills it: seeded weights, seeded uniform tokens (a sequence's targets are its tokens
  /// shifted by one). May synchronise.
  /// @param impl   its layout may have shares: the optimizer then updates the share of the configured part alone
  /// @param dtype  of the parameters; float64 for tests against references
  Trainer(ModelConfig config, const ModelImpl& impl, at::ScalarType dtype = at::kFloat);

  /// One step of the configured pass. Marks the end of the forward pass, of the backward pass and of the optimizer, as
  /// far as the pass goes; passes of their own may have updated parameters before the end of backward. Gradients are
  /// set to none at its start, or overwritten; gradients of fp16 stay multiplied by the loss scale where no optimizer
  /// follows. Never synchronises.
  /// @param phases   may be null
  /// @param outputs  filled with the outputs of the step, for a check; valid until the forward pass is marked, where
  ///                 passes of their own write over them. Null in a timed step
  void step(PhaseMarker* phases = nullptr, StepOutputs* outputs = nullptr);

  /// Forward pass in the configured precision: [batch, context, vocab_size]. With a graph if gradients are enabled.
  [[nodiscard]] at::Tensor logits(const at::Tensor& tokens) const;
  /// Forward pass and loss, a scalar, not scaled.
  [[nodiscard]] at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) const;
  /// Gradients of the loss, times the scale for fp16. Autograd adds to what is there.
  void backward(const at::Tensor& loss) { backward(loss, {}); }
  /// One optimizer step. Gradients of fp16 are unscaled by it, in place.
  void optimize();
  /// Has every step from now on synchronize its gradients; null: none does.
  /// @param sync  outlives its use here
  void synchronize_through(GradientSync* sync) { sync_ = sync; }
  /// Tells the passes that parameters were given values, and not by the optimizer.
  void parameters_changed() {
    if (passes_) passes_->parameters_changed();
  }
  /// Weights, data, optimizer and scale as they were built; no gradients.
  void reset() { reset(config_.seed); }
  /// The same with weights and data of another seed, in the same tensors.
  void reset(std::uint64_t seed);

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] const at::Tensor& tokens() const { return tokens_; }    // [batch, context] int64
  [[nodiscard]] const at::Tensor& targets() const { return targets_; }  // [batch, context] int64
  /// All parts of the batch, by a seed: tokens in all columns but the last, targets in all but the first. [part.count *
  /// batch, context + 1] int64
  [[nodiscard]] at::Tensor whole_batch(std::uint64_t seed) const;
  /// The tensors that the optimizer updates: the leaves, or the share of them, in parts one behind the other
  /// (ParameterLayout::scatter_bytes).
  [[nodiscard]] const std::vector<at::Tensor>& optimized() const { return optimized_; }
  [[nodiscard]] AdamW* optimizer() { return optimizer_ ? &*optimizer_ : nullptr; }  // null but for train_step
  [[nodiscard]] const AdamW* optimizer() const { return optimizer_ ? &*optimizer_ : nullptr; }
  /// Bytes of passes that plan their memory; nothing where a step allocates what it needs.
  [[nodiscard]] std::optional<HeldBytes> planned_bytes() const {
    return passes_ ? passes_->held_bytes() : std::nullopt;
  }
  [[nodiscard]] GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }  // null but for fp16 with a backward
  /// Bytes of parameters, data and optimizer.
  [[nodiscard]] std::int64_t held_bytes() const;
  /// Whether a step was made since the last reset.
  [[nodiscard]] bool stepped() const { return stepped_; }

 private:
  void initialise(std::uint64_t seed);
  void fill_tokens(std::uint64_t seed);
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets, StepOutputs* outputs) const;
  void backward(const at::Tensor& loss, const UpdateHook& update);
  /// Whether a step may update a parameter before it has the gradients of all.
  [[nodiscard]] bool updates_in_backward() const;

  ModelConfig config_;
  const ModelImpl& impl_;
  at::Device device_;
  Parameters parameters_;
  AttentionConstants constants_;
  std::optional<GradScaler> scaler_;
  std::unique_ptr<ModelPasses> passes_;
  std::vector<at::Tensor> optimized_;
  std::optional<AdamW> optimizer_;
  GradientSync* sync_{};
  at::Tensor tokens_, targets_;
  std::vector<at::Tensor> gradients_;  // filled while unscaling; a member to keep its capacity
  bool stepped_{};
};

/// Runs `action`, which makes steps of the trainer; after an error no gradient stays allocated.
template <class Action>
void guarded(Trainer& trainer, const Action& action) {
  try {
    action();
  } catch (...) {
    trainer.parameters().clear_gradients();
    throw;
  }
}

}  // namespace tbench::model

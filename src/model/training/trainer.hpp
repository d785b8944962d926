// A model with its data, optimizer and loss scale, and one step of it. A case of the Model family builds and launches a
// Trainer; verify_trainer.hpp verifies it.
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

/// Returns the optimizer that a case uses if its implementation asks for `variant`. fp16 uses kFused instead of the
/// foreach variants, which cannot skip a step on the device; exec:graph uses kForeachOnDevice instead of kForeach.
[[nodiscard]] AdamWVariant optimizer_variant(const ModelConfig& config, AdamWVariant variant);

class Trainer {
 public:
  /// Allocates all tensors and fills them: seeded weights, and seeded uniform tokens (a sequence's targets are its
  /// tokens shifted by one). May synchronise.
  /// @param impl   if its layout has shares, the optimizer only updates the share of config.part
  /// @param dtype  dtype of the parameters; float64 for tests against references
  Trainer(ModelConfig config, const ModelImpl& impl, at::ScalarType dtype = at::kFloat);

  /// Makes one step of the configured pass. Marks the end of the forward pass, of the backward pass and of the
  /// optimizer, as far as the pass goes. ModelPasses may update parameters before the end of backward. Gradients of an
  /// earlier step are cleared or overwritten; without an optimizer, fp16 gradients stay multiplied by the loss scale.
  /// Never synchronises.
  /// @param phases   may be null
  /// @param outputs  receives the step's outputs, for a check; ModelPasses may overwrite them after the mark of the
  ///                 forward pass. Null in a timed step
  void step(PhaseMarker* phases = nullptr, StepOutputs* outputs = nullptr);

  /// Runs the forward pass in the configured precision and returns the logits, [batch, context, vocab_size], with an
  /// autograd graph if gradients are enabled.
  [[nodiscard]] at::Tensor logits(const at::Tensor& tokens) const;
  /// Runs the forward pass and returns the loss, a scalar that is not scaled.
  [[nodiscard]] at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) const;
  /// Computes the gradients of the loss, times the loss scale for fp16. Autograd adds them to existing gradients.
  void backward(const at::Tensor& loss) { backward(loss, {}); }
  /// Makes one optimizer step. It unscales fp16 gradients in place.
  void optimize();
  /// Makes every later step synchronize its gradients through `sync`, or not at all if `sync` is null.
  /// @param sync  must live as long as steps use it
  void synchronize_through(GradientSync* sync) { sync_ = sync; }
  /// Notifies the passes that parameters have new values that do not come from the optimizer.
  void parameters_changed() {
    if (passes_) passes_->parameters_changed();
  }
  /// Restores weights, data, optimizer and loss scale as they were built, and clears gradients.
  void reset() { reset(config_.seed); }
  /// Does the same with weights and data of another seed, in the same tensors.
  void reset(std::uint64_t seed);

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] const at::Tensor& tokens() const { return tokens_; }    // [batch, context] int64
  [[nodiscard]] const at::Tensor& targets() const { return targets_; }  // [batch, context] int64
  /// Returns the token ids of all parts of the batch for a seed: tokens in all columns but the last, targets in all
  /// columns but the first. [part.count * batch, context + 1] int64
  [[nodiscard]] at::Tensor whole_batch(std::uint64_t seed) const;
  /// The tensors that the optimizer updates: the leaves, or this rank's share of them, divided into consecutive parts
  /// (ParameterLayout::scatter_bytes).
  [[nodiscard]] const std::vector<at::Tensor>& optimized() const { return optimized_; }
  [[nodiscard]] AdamW* optimizer() { return optimizer_ ? &*optimizer_ : nullptr; }  // null except for train_step
  [[nodiscard]] const AdamW* optimizer() const { return optimizer_ ? &*optimizer_ : nullptr; }
  /// Returns the bytes of passes that plan their memory; nullopt if steps allocate their memory.
  [[nodiscard]] std::optional<HeldBytes> planned_bytes() const {
    return passes_ ? passes_->held_bytes() : std::nullopt;
  }
  [[nodiscard]] GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }  // null except for fp16 with a backward
  /// Returns the bytes of parameters, data and optimizer state.
  [[nodiscard]] std::int64_t held_bytes() const;
  /// Whether a step was made since construction or the last reset.
  [[nodiscard]] bool stepped() const { return stepped_; }

 private:
  void initialise(std::uint64_t seed);
  void fill_tokens(std::uint64_t seed);
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets, StepOutputs* outputs) const;
  void backward(const at::Tensor& loss, const UpdateHook& update);
  /// Whether a step may update some parameters before it has all gradients.
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
  std::vector<at::Tensor> gradients_;  // filled only while unscaling; a member to keep its capacity
  bool stepped_{};
};

/// Runs `action`, which runs steps of the trainer. If it throws, frees all gradients.
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

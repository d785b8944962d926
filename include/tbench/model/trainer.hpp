// A model with its data, optimizer and loss scale, and one step of it: everything of ModelStep that speaks LibTorch,
// the verification apart (verify_trainer.hpp).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "tbench/model/adamw.hpp"
#include "tbench/model/grad_scaler.hpp"
#include "tbench/model/model_impl.hpp"
#include "tbench/model/model_step.hpp"
#include "tbench/model/parameters.hpp"

namespace tbench::model {

class Trainer {
 public:
  /// Allocates everything, then fills it: seeded weights, seeded uniform tokens (a sequence's targets are its tokens
  /// shifted by one). May synchronise.
  /// @param dtype  of the parameters; float64 for tests against references
  Trainer(ModelStepConfig config, const ModelImpl& impl, at::ScalarType dtype = at::kFloat);

  /// One step of the configured pass, as ModelStep::launch. Never synchronises.
  void step(const PhaseEnd& phase_end);

  /// Forward pass in the configured precision: [batch, context, vocab_size]. With a graph if gradients are enabled.
  [[nodiscard]] at::Tensor logits(const at::Tensor& tokens) const;
  /// Forward pass and loss, a scalar, not scaled.
  [[nodiscard]] at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) const;
  /// Gradients of the loss, times the scale for fp16. Adds to what is there.
  void backward(const at::Tensor& loss);
  /// One optimizer step. Gradients of fp16 are unscaled by it, in place.
  void optimize();
  /// Weights, optimizer and scale as they were built; no gradients.
  void reset();

  [[nodiscard]] const ModelStepConfig& config() const { return config_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] const at::Tensor& tokens() const { return tokens_; }                // [batch, context] int64
  [[nodiscard]] const at::Tensor& targets() const { return targets_; }              // [batch, context] int64
  [[nodiscard]] AdamW* optimizer() { return optimizer_ ? &*optimizer_ : nullptr; }  // null but for train_step
  [[nodiscard]] const AdamW* optimizer() const { return optimizer_ ? &*optimizer_ : nullptr; }
  [[nodiscard]] GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }  // null but for fp16 with a backward
  /// Whether a step was made since the last reset.
  [[nodiscard]] bool stepped() const { return stepped_; }

 private:
  void make_tokens();

  ModelStepConfig config_;
  const ModelImpl& impl_;
  at::Device device_;
  Parameters parameters_;
  AttentionTables tables_;
  std::optional<AdamW> optimizer_;
  std::optional<GradScaler> scaler_;
  at::Tensor tokens_, targets_;
  std::vector<at::Tensor> gradients_;  // filled while unscaling; a member to keep its capacity
  bool stepped_{};
};

}  // namespace tbench::model

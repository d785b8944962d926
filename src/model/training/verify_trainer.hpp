// The run-time check of a training step: the eager mathematics on the parameters of a model in a higher precision, and
// how far apart the two may be. Weights are converted layer by layer, the backward pass recomputes each block, and a
// block runs one row of the batch after the other, or as many as need little memory: neither a second model, nor a
// second set of gradients, nor the attention scores of a large batch are ever held.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/layers/attention.hpp"
#include "model/layers/parameters.hpp"
#include "model/torch/compare.hpp"
#include "model/training/tolerances.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/record.hpp"
#include "tbench/model/model_case.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

/// Makes the step that is timed, for a check.
using CheckedStep = std::function<void(StepOutputs& outputs)>;

/// Runs the step that is timed once, on the weights and tokens of `seed`, and compares all that it gives: the logits of
/// every row of the batch; as far as the pass goes the loss and every gradient; every parameter after the step, and
/// with the case's own seed the optimizer's moments and the update's norms. Gradients are NaN before the step: what it
/// leaves in place is found. Ends with the trainer as it was built. Synchronises: for fp16 once an attempt at a scale
/// besides, and else once for all that is compared.
///
/// With the case's own seed the reference runs the rows of a batch one by one, so that operations which mix them are
/// found though it shares them. With another it runs several together, computes the update in float32 and, for bf16 on
/// a GPU, multiplies in TF32: a third of the operations, and products of a size and type that a GPU is fast at.
/// @param step  makes one step of the trainer and fills its outputs; by default as the trainer makes it
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step);
/// Verifies a step that all ranks make together, each on its part of the batch. Works like the overload above, with
/// these differences: the logits are compared for this rank's rows; the loss, the gradients and the update for the
/// whole batch, whose reference every rank computes by itself; and after the step the parameters must be bitwise equal
/// on all ranks.
/// @param group  must be called by all of its ranks
/// @param step   must leave the averaged gradient in every leaf
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step,
                                          ranks::Group& group);
/// One step as the trainer makes it, whose outputs are kept.
void make_checked_step(Trainer& trainer, StepOutputs& outputs);
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed);
[[nodiscard]] inline Verification verify_trainer(Trainer& trainer) {
  return verify_trainer(trainer, trainer.config().seed);
}

/// How many rows of a batch the second verification's reference runs together: as many, in groups of about the same
/// size, as fit in 1.5 GiB with all that a block's backward pass keeps; one at least.
[[nodiscard]] std::int64_t rows_together(const ModelConfig& config, at::ScalarType dtype);

class Reference {
 public:
  /// Takes the logits of one row, [context, vocab_size], in the reference's dtype.
  using LogitsVisitor = std::function<void(std::int64_t row, const at::Tensor& logits)>;
  /// Takes parameter `index` (into Parameters::named()) and its gradient in the reference's dtype.
  using GradientVisitor = std::function<void(std::size_t index, const at::Tensor& gradient)>;

  /// @param parameters  outlive the reference. Only their shapes and seeded initial values are read
  /// @param seed        of the initial values
  /// @param rows        that a block runs together, at most
  Reference(const ModelConfig& config, const Parameters& parameters, std::uint64_t seed, at::ScalarType dtype,
            std::int64_t rows = 1);

  /// @param tokens  [rows, context]
  void forward(const at::Tensor& tokens, const LogitsVisitor& visit);
  /// After forward() of the same tokens: hands over every gradient of the loss once, from the LM head down.
  /// @param targets  [rows, context]
  /// @return         the loss, the mean over all rows
  at::Tensor backward(const at::Tensor& targets, const GradientVisitor& visit);

 private:
  [[nodiscard]] at::Tensor initial(std::size_t index) const;
  [[nodiscard]] std::vector<at::Tensor> initial_block(std::size_t layer) const;
  struct Head {
    at::Tensor loss;
    at::Tensor gradient;  // of the loss by the last block's output, [rows, context, d_model]
  };
  Head backward_head(const at::Tensor& targets, const GradientVisitor& visit);
  at::Tensor backward_block(std::size_t layer, const at::Tensor& gradient, const GradientVisitor& visit);

  const Parameters& parameters_;
  std::uint64_t seed_;
  at::ScalarType dtype_;
  std::int64_t rows_;
  std::size_t num_layers_;
  AttentionConstants constants_;
  at::Tensor tokens_;
  std::vector<at::Tensor> inputs_;  // of every block, and of the final norm: [rows, context, d_model]
};

}  // namespace tbench::model

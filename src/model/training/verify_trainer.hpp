// The run-time check of a training step, against a reference that runs the eager operations with the same weights in a
// higher precision. To save memory, the reference converts weights layer by layer, recomputes each block in the
// backward pass, and runs a block on one row of the batch at a time, or on as many rows as need little memory. In long
// contexts, attention and the LM head run in tiles of tokens. The reference never holds a second model, a second set of
// gradients, the attention scores of a large batch or a long context, or all logits of a long context.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/layers/attention.hpp"
#include "model/layers/parameters.hpp"
#include "model/layers/transformer.hpp"
#include "model/torch/compare.hpp"
#include "model/training/tolerances.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/record.hpp"
#include "tbench/model/model_case.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench::model {

/// Makes one step as it is timed, and stores its outputs.
using CheckedStep = std::function<void(StepOutputs& outputs)>;

/// Runs the timed step once, on the weights and tokens of `seed`, and compares all of its results. These are the logits
/// of every row of the batch and, as far as the pass goes, the loss, every gradient and every parameter after the step.
/// If the step never has all logits, every token's lse and the logit of its target stand in for them. With the case's
/// own seed, the results are also the optimizer's moments and the update's norms. Gradients are NaN before the step, so
/// that missing gradients are found. Leaves the trainer as it was built. Synchronises once for all comparisons, and for
/// fp16 also once per tried loss scale.
///
/// With the case's own seed, the reference runs the rows of a batch one by one, so that an operation that mixes rows is
/// found even if the reference shares it. With another seed, the reference runs several rows together, computes the
/// update in float32 and, for bf16 on a GPU, multiplies in TF32. This needs a third of the operations, and its products
/// have sizes and types at which a GPU is fast.
/// @param step  runs one step of the trainer and fills its outputs; by default make_checked_step()
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step);
/// Verifies a step that all ranks run together, each on its part of the batch. Works like the overload above, with
/// these differences. The logits are compared for this rank's rows. The loss, the gradients and the update are compared
/// for the whole batch, whose reference every rank computes by itself. After the step the parameters must be bitwise
/// equal on all ranks.
/// @param group  must be called by all of its ranks
/// @param step   must leave the averaged gradient in every leaf
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed, const CheckedStep& step,
                                          ranks::Group& group);
/// Makes one step by Trainer::step() and keeps its outputs.
void make_checked_step(Trainer& trainer, StepOutputs& outputs);
[[nodiscard]] Verification verify_trainer(Trainer& trainer, std::uint64_t seed);
[[nodiscard]] inline Verification verify_trainer(Trainer& trainer) {
  return verify_trainer(trainer, trainer.config().seed);
}

/// Returns the number of rows that the second verification's reference runs together: groups of about equal size, whose
/// tensors in a block's backward pass fit in 1.5 GiB; at least one row.
[[nodiscard]] std::int64_t rows_together(const ModelConfig& config, at::ScalarType dtype);

/// Tokens that a reference handles together.
struct ReferenceTiles {
  std::int64_t queries{};  // queries of a tile of attention scores; the context without tiles
  std::int64_t logits{};   // tokens of a tile of logits; the context without tiles
};

/// Returns the tiles of a case's references. Below 2,048 tokens, a tile is the whole context. From there on, it has
/// 1,024 tokens, or as many queries as have 2^28 scores in a row of the batch, if that is less.
[[nodiscard]] ReferenceTiles reference_tiles(const ModelConfig& config);

class Reference {
 public:
  /// Called with logits of one row of the batch, [tokens, vocab_size], in the reference's dtype, for all tokens or for
  /// a tile that begins at token `first`.
  using LogitsVisitor = std::function<void(std::int64_t row, std::int64_t first, const at::Tensor& logits)>;
  /// Called with the index of a parameter in Parameters::named() and its gradient, in the reference's dtype.
  using GradientVisitor = std::function<void(std::size_t index, const at::Tensor& gradient)>;

  /// Makes a reference for the initial values of `seed`.
  /// @param parameters  must outlive the reference; only their shapes and seeded initial values are read
  /// @param seed        seed of the initial values
  /// @param rows        largest number of rows that a block runs together
  /// @param tiles       reference_tiles(), but for tests
  Reference(const ModelConfig& config, const Parameters& parameters, std::uint64_t seed, at::ScalarType dtype,
            std::int64_t rows, ReferenceTiles tiles);

  /// Runs the forward pass and passes the logits to `visit`, row by row and tile by tile.
  /// @param tokens  [rows, context]
  void forward(const at::Tensor& tokens, const LogitsVisitor& visit);
  /// Passes every gradient of the loss once to `visit`, from the LM head down. Must follow forward() with the same
  /// tokens.
  /// @param targets  [rows, context]
  /// @return         the loss, the mean over all rows
  at::Tensor backward(const at::Tensor& targets, const GradientVisitor& visit);

 private:
  [[nodiscard]] std::size_t first_of_block(std::size_t layer) const { return 1 + block_parameters_ * layer; }
  /// Returns the index of the LM head's parameter.
  [[nodiscard]] std::size_t head() const { return is_tied_ ? 0 : first_of_block(num_layers_) + 1; }
  [[nodiscard]] at::Tensor initial(std::size_t index) const;
  [[nodiscard]] std::vector<at::Tensor> initial_block(std::size_t layer) const;
  struct Head {
    at::Tensor loss;
    at::Tensor gradient;  // gradient with respect to the last block's output, [rows, context, d_model]
    at::Tensor of_head;   // part of the embeddings' gradient, if they are tied
  };
  Head backward_head(const at::Tensor& targets, const GradientVisitor& visit);
  [[nodiscard]] at::Tensor run_block(const at::Tensor& x, const std::vector<at::Tensor>& tensors) const;
  at::Tensor backward_block(std::size_t layer, const at::Tensor& gradient, const GradientVisitor& visit);

  const Parameters& parameters_;
  std::uint64_t seed_;
  at::ScalarType dtype_;
  std::int64_t rows_;
  ReferenceTiles tiles_;
  LayerOps ops_;
  std::size_t num_layers_;
  std::size_t block_parameters_;
  bool is_tied_;
  AttentionConstants constants_;
  at::Tensor tokens_;
  std::vector<at::Tensor> inputs_;  // inputs of every block and of the final norm, [rows, context, d_model] each
};

}  // namespace tbench::model

#include "model/training/verify_trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "model/layers/tiled_attention.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model {
namespace {

/// Returns row `row` of a batch, as a batch of one row.
at::Tensor row_of(const at::Tensor& batch, std::int64_t row) { return batch.narrow(0, row, 1); }

/// Returns `count` rows of a tensor from `first` on, or as many as there are.
at::Tensor rows_of(const at::Tensor& tensor, std::int64_t first, std::int64_t count) {
  return tensor.narrow(0, first, std::min(count, tensor.size(0) - first));
}

/// Returns `count` tokens of every row of a batch from `first` on, or as many as there are.
at::Tensor tokens_of(const at::Tensor& batch, std::int64_t first, std::int64_t count) {
  return batch.narrow(1, first, std::min(count, batch.size(1) - first));
}

void add_to(at::Tensor& sum, const at::Tensor& term) { sum = sum.defined() ? sum.add_(term) : term; }

}  // namespace

// The constants count the tensors that are live at once in backward, in the reference's dtype. Scores: masked scores,
// exponentials, quotients, and three gradients. Residual stream's width: some twenty from norms, projections and RoPE.
// Hidden width: gate, its sigmoid, both products, up, and two gradients.
std::int64_t rows_together(const ModelConfig& config, at::ScalarType dtype) {
  constexpr std::int64_t kScores = 6, kStreams = 20, kHidden = 7;
  constexpr std::int64_t kBytes = std::int64_t{3} << 29;  // 2 % of an H100's memory
  const std::int64_t of_token =
      kScores * config.size.num_heads * config.context + kStreams * config.size.d_model + kHidden * config.size.d_ff;
  const std::int64_t of_row = config.context * of_token * static_cast<std::int64_t>(c10::elementSize(dtype));
  const std::int64_t most = std::clamp(kBytes / of_row, std::int64_t{1}, config.batch);
  const std::int64_t groups = (config.batch + most - 1) / most;
  return (config.batch + groups - 1) / groups;
}

// The scores of a tile, [heads, queries, context], take 1 GiB in float32, and some six tensors of them are live at
// once.
ReferenceTiles reference_tiles(const ModelConfig& config) {
  constexpr std::int64_t kFirstTiledContext = 2048, kTile = 1024, kMaxScores = std::int64_t{1} << 28;
  if (config.context < kFirstTiledContext) return {.queries = config.context, .logits = config.context};
  const std::int64_t most = std::max(kMaxScores / (config.size.num_heads * config.context), std::int64_t{1});
  return {.queries = std::min(kTile, most), .logits = kTile};
}

Reference::Reference(const ModelConfig& config, const Parameters& parameters, std::uint64_t seed, at::ScalarType dtype,
                     std::int64_t rows, ReferenceTiles tiles)
    : parameters_{parameters},
      seed_{seed},
      dtype_{dtype},
      rows_{rows},
      tiles_{tiles},
      ops_{model_impls().at("eager").ops},
      num_layers_{static_cast<std::size_t>(config.size.num_layers)},
      block_parameters_{block_parameters(config.size)},
      is_tied_{config.size.tied} {
  const AttentionConstantsConfig constants{.context = config.context,
                                           .size = config.size,
                                           .options = parameters.named().front().value.options().dtype(dtype),
                                           .score_dtype = dtype};
  const bool is_tiled = tiles_.queries < config.context;
  if (is_tiled) ops_.attention = &tiled_attention;
  constants_ =
      is_tiled ? make_tiled_attention_constants(constants, tiles_.queries) : make_eager_attention_constants(constants);
}

at::Tensor Reference::run_block(const at::Tensor& x, const std::vector<at::Tensor>& tensors) const {
  return block(ops_, x, block_weights(tensors), constants_);
}

at::Tensor Reference::initial(std::size_t index) const {
  return parameters_.initial_value(index, seed_).to(dtype_).requires_grad_(true);
}

std::vector<at::Tensor> Reference::initial_block(std::size_t layer) const {
  std::vector<at::Tensor> tensors = parameters_.initial_values(first_of_block(layer), block_parameters_, seed_);
  for (at::Tensor& tensor : tensors) tensor = tensor.to(dtype_).requires_grad_(true);
  return tensors;
}

void Reference::forward(const at::Tensor& tokens, const LogitsVisitor& visit) {
  const at::NoGradGuard no_grad;
  tokens_ = tokens;
  inputs_.assign(1, ops_.embedding(initial(0), tokens));
  for (std::size_t layer = 0; layer < num_layers_; ++layer) {
    const std::vector<at::Tensor> weights = initial_block(layer);
    std::vector<at::Tensor> rows;
    for (std::int64_t first = 0; first < tokens.size(0); first += rows_) {
      rows.push_back(run_block(rows_of(inputs_.back(), first, rows_), weights));
    }
    inputs_.push_back(at::cat(rows));
  }
  const std::size_t norm = first_of_block(num_layers_);
  const at::Tensor ln_final = initial(norm);
  const at::Tensor lm_head = initial(head());
  for (std::int64_t row = 0; row < tokens.size(0); ++row) {
    for (std::int64_t first = 0; first < tokens.size(1); first += tiles_.logits) {
      const at::Tensor x = rows_of(inputs_.back()[row], first, tiles_.logits);
      visit(row, first, at::linear(ops_.rms_norm(x, ln_final), lm_head));
    }
  }
}

at::Tensor Reference::backward(const at::Tensor& targets, const GradientVisitor& visit) {
  auto [loss, gradient, of_head] = backward_head(targets, visit);
  for (std::size_t layer = num_layers_; layer-- > 0;) gradient = backward_block(layer, gradient, visit);
  const at::Tensor embeddings = initial(0);
  const auto embedded = ops_.embedding(embeddings, tokens_);
  const at::Tensor of_embedding = torch::autograd::grad({embedded}, {embeddings}, {gradient}).front();
  visit(0, is_tied_ ? of_embedding.add(of_head) : of_embedding);
  inputs_.clear();
  return loss;
}

Reference::Head Reference::backward_head(const at::Tensor& targets, const GradientVisitor& visit) {
  const std::size_t norm = first_of_block(num_layers_);
  const at::Tensor ln_final = initial(norm);
  const at::Tensor lm_head = initial(head());
  at::Tensor loss, norm_gradient, head_gradient;
  std::vector<at::Tensor> rows;
  for (std::int64_t row = 0; row < targets.size(0); ++row) {
    std::vector<at::Tensor> tiles;
    for (std::int64_t first = 0; first < targets.size(1); first += tiles_.logits) {
      const at::Tensor x = tokens_of(row_of(inputs_.back(), row), first, tiles_.logits).detach().requires_grad_(true);
      const at::Tensor logits = at::linear(ops_.rms_norm(x, ln_final), lm_head);
      const at::Tensor mean = ops_.cross_entropy(logits, tokens_of(row_of(targets, row), first, tiles_.logits));
      // The mean over all tokens is the sum of the tiles' means, each times the tile's share of the tokens.
      const at::Tensor share = mean.div(static_cast<double>(targets.numel()) / static_cast<double>(x.size(1)));
      const auto gradients = torch::autograd::grad({share}, {x, ln_final, lm_head});
      tiles.push_back(gradients[0]);
      add_to(norm_gradient, gradients[1]);
      add_to(head_gradient, gradients[2]);
      add_to(loss, share.detach());
    }
    rows.push_back(tiles.size() == 1 ? tiles.front() : at::cat(tiles, 1));
  }
  if (!is_tied_) visit(head(), head_gradient);
  visit(norm, norm_gradient);
  return {.loss = loss, .gradient = at::cat(rows), .of_head = is_tied_ ? head_gradient : at::Tensor{}};
}

at::Tensor Reference::backward_block(std::size_t layer, const at::Tensor& gradient, const GradientVisitor& visit) {
  const std::vector<at::Tensor> weights = initial_block(layer);
  std::vector<at::Tensor> sums(block_parameters_);
  std::vector<at::Tensor> rows;
  for (std::int64_t first = 0; first < gradient.size(0); first += rows_) {
    std::vector<at::Tensor> inputs = weights;
    inputs.push_back(rows_of(inputs_[layer], first, rows_).detach().requires_grad_(true));
    const at::Tensor y = run_block(inputs.back(), weights);
    const auto gradients = torch::autograd::grad({y}, inputs, {rows_of(gradient, first, rows_)});
    for (std::size_t i = 0; i < sums.size(); ++i) add_to(sums[i], gradients[i]);
    rows.push_back(gradients.back());
  }
  for (std::size_t i = 0; i < sums.size(); ++i) visit(first_of_block(layer) + i, sums[i]);
  return at::cat(rows);
}

}  // namespace tbench::model

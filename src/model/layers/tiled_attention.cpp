#include "model/layers/tiled_attention.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace tbench::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kQueriesKey = "queries";

/// A tile of queries [first, first + count) of a sequence.
struct Tile {
  std::int64_t first{}, count{};
  [[nodiscard]] std::int64_t end() const { return first + count; }
};

void for_each_tile(std::int64_t context, std::int64_t queries, const std::function<void(const Tile&)>& visit) {
  for (std::int64_t first = 0; first < context; first += queries) {
    visit({.first = first, .count = std::min(queries, context - first)});
  }
}

/// Returns the tile's queries, and the keys and values that they see.
AttentionHeads heads_of(const Tile& tile, const AttentionHeads& all) {
  return {.q = all.q.narrow(2, tile.first, tile.count),
          .k = all.k.narrow(2, 0, tile.end()),
          .v = all.v.narrow(2, 0, tile.end())};
}

at::Tensor core_of(const Tile& tile, const AttentionHeads& heads, const at::Tensor& minus_infinity) {
  const at::Tensor mask = at::ones({tile.count, tile.end()}, heads.q.options().dtype(at::kBool)).tril(tile.first);
  return eager_core(heads, mask, minus_infinity);
}

class TiledCore final : public torch::autograd::Function<TiledCore> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& minus_infinity, std::int64_t queries) {
    context->save_for_backward({q, k, v, minus_infinity});
    context->saved_data[kQueriesKey] = queries;
    std::vector<at::Tensor> tiles;
    for_each_tile(q.size(2), queries, [&](const Tile& tile) {
      tiles.push_back(core_of(tile, heads_of(tile, {.q = q, .k = k, .v = v}), minus_infinity));
    });
    return at::cat(tiles, 1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const AttentionHeads all{.q = saved[0], .k = saved[1], .v = saved[2]};
    const at::Tensor of_q = at::zeros_like(all.q), of_k = at::zeros_like(all.k), of_v = at::zeros_like(all.v);
    for_each_tile(all.q.size(2), context->saved_data[kQueriesKey].toInt(), [&](const Tile& tile) {
      const at::AutoGradMode enabled{true};
      const AttentionHeads seen = heads_of(tile, all);
      const variable_list inputs{seen.q.detach().requires_grad_(true), seen.k.detach().requires_grad_(true),
                                 seen.v.detach().requires_grad_(true)};
      const at::Tensor y = core_of(tile, {.q = inputs[0], .k = inputs[1], .v = inputs[2]}, saved[3]);
      const variable_list own = torch::autograd::grad({y}, inputs, {gradients[0].narrow(1, tile.first, tile.count)});
      const at::NoGradGuard no_grad;
      of_q.narrow(2, tile.first, tile.count).copy_(own[0]);
      of_k.narrow(2, 0, tile.end()).add_(own[1]);
      of_v.narrow(2, 0, tile.end()).add_(own[2]);
    });
    return {of_q, of_k, of_v, at::Tensor{}, at::Tensor{}};
  }
};

}  // namespace

AttentionConstants make_tiled_attention_constants(const AttentionConstantsConfig& config, std::int64_t queries) {
  AttentionConstants constants = make_unmasked_attention_constants(config);
  constants.query_tile = queries;
  return constants;
}

at::Tensor tiled_attention(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const AttentionHeads heads = eager_heads(x, weights, constants);
  const at::Tensor attended =
      TiledCore::apply(heads.q, heads.k, heads.v, constants.minus_infinity, constants.query_tile);
  return at::linear(attended, weights.output);
}

}  // namespace tbench::model

// Eager attention in tiles of queries, for references with long contexts: no tensor of all scores exists, neither in
// the forward pass nor in the backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layers/attention.hpp"

namespace tbench::model {

/// Makes the constants of tiled_attention(). Copies to the device, so do not call it in a step.
/// @param queries  queries per tile, > 0; the last tile may have fewer
[[nodiscard]] AttentionConstants make_tiled_attention_constants(const AttentionConstantsConfig& config,
                                                                std::int64_t queries);

/// Runs attention with the operations of eager_attention(), for one tile of queries after the other, each with the keys
/// that it sees. The backward pass computes each tile again. Shapes as in eager_attention().
[[nodiscard]] at::Tensor tiled_attention(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);

}  // namespace tbench::model

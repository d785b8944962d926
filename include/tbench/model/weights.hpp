// The transformer's weights by the role they play, as the layers take them. Holds tensors, owns no policy: see
// parameters.hpp for names, storage and initialisation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <vector>

namespace tbench::model {

/// Either q, k, v or qkv (their rows one after the other) is defined.
struct AttentionWeights {
  at::Tensor q, k, v;  // [d_model, d_model] each
  at::Tensor qkv;      // [3 * d_model, d_model]
  at::Tensor output;   // [d_model, d_model]
};

struct FeedForwardWeights {
  at::Tensor w1;  // [d_ff, d_model]
  at::Tensor w2;  // [d_model, d_ff]
  at::Tensor w3;  // [d_ff, d_model]
};

struct BlockWeights {
  at::Tensor ln1;  // [d_model]
  AttentionWeights attention;
  at::Tensor ln2;  // [d_model]
  FeedForwardWeights feed_forward;
};

struct ModelWeights {
  at::Tensor token_embeddings;  // [vocab_size, d_model]
  std::vector<BlockWeights> blocks;
  at::Tensor ln_final;  // [d_model]
  at::Tensor lm_head;   // [vocab_size, d_model]
};

/// Parameters of one block, in the order ln1, q, k, v, output, w1, w2, w3, ln2.
inline constexpr std::size_t kBlockParameters = 9;

/// @param tensors  the block's parameters in the order of kBlockParameters
[[nodiscard]] BlockWeights block_weights(std::span<const at::Tensor, kBlockParameters> tensors);

}  // namespace tbench::model

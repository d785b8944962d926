// Causal multi-head self-attention with RoPE on q and k, and the constants that its variants read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layers/layers.hpp"
#include "model/layers/parameters.hpp"

namespace tbench::model {

/// Constants that attention reads besides weights. Each variant fills only the members that it needs.
struct AttentionConstants {
  std::int64_t num_heads{};
  std::int64_t kv_heads{};
  std::int64_t head_dim{};
  RopeTable rope;
  at::Tensor rotation;        // [context, 1, 1, head_dim / 2], complex
  at::Tensor mask;            // [context, context] bool: true if the row's query sees the column's key
  at::Tensor minus_infinity;  // scalar on the device: a host scalar would be copied to the device in every layer
  std::int64_t query_tile{};  // queries per tile of tiled_attention()
};

struct AttentionConstantsConfig {
  std::int64_t context{};
  ModelSize size;
  at::TensorOptions options;     // the parameters' device and dtype
  at::ScalarType score_dtype{};  // dtype of q k^T: the autocast dtype, or the parameters' dtype
};

/// Make the constants. Both copy to the device, so do not call them in a step.
[[nodiscard]] AttentionConstants make_eager_attention_constants(const AttentionConstantsConfig& config);
[[nodiscard]] AttentionConstants make_fused_attention_constants(const AttentionConstantsConfig& config);

/// Returns what make_eager_attention_constants() returns, without the mask.
[[nodiscard]] AttentionConstants make_unmasked_attention_constants(const AttentionConstantsConfig& config);

/// Inputs of attention's core, [batch, num_heads, context, head_dim] each.
struct AttentionHeads {
  at::Tensor q, k, v;
};

/// Run the parts of eager_attention(): everything before its core, and the core.
[[nodiscard]] AttentionHeads eager_heads(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);
/// @param heads  q may have fewer rows than k and v
/// @param mask   [queries, keys] bool, as AttentionConstants::mask
/// @return       [batch, queries, num_heads * head_dim]
[[nodiscard]] at::Tensor eager_core(const AttentionHeads& heads, const at::Tensor& mask,
                                    const at::Tensor& minus_infinity);

/// Runs attention by elementary operations: three projections, each head's RMSNorm of q and k (with qk_norm), RoPE,
/// copies of k and v for the heads that share them, scores in memory, mask by `where`, and softmax.
/// @param x        [batch, context, d_model]
/// @param weights  q, k, v, output
/// @return         [batch, context, d_model]
[[nodiscard]] at::Tensor eager_attention(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);

/// Returns the softmax over the last dimension: exp(x - max) / sum.
[[nodiscard]] at::Tensor eager_softmax(const at::Tensor& x);

/// Runs attention with one matrix product for q, k and v, and ATen's fused operators, called by name. These are, on
/// CUDA, the flash operator for 16 bits and the memory-efficient operator for float32; on a CPU, its flash operator.
/// @param weights  qkv, output
[[nodiscard]] at::Tensor fused_attention(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);

/// Works like fused_attention(), but with our own kernels (flash_attention.hpp), and on CUDA only. float32 uses TF32
/// products if the process allows TF32.
[[nodiscard]] at::Tensor flash_fused_attention(const at::Tensor& x, const AttentionWeights& weights,
                                               const AttentionConstants& constants);

}  // namespace tbench::model

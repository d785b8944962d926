// Causal multi-head self-attention with RoPE on q and k, and the constants that its variants read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layers/layers.hpp"
#include "model/layers/parameters.hpp"

namespace tbench::model {

/// Constants that attention reads besides weights. A variant fills the ones that it needs.
struct AttentionConstants {
  std::int64_t num_heads{};
  RopeTable rope;
  at::Tensor rotation;        // [context, 1, 1, head_dim / 2], complex
  at::Tensor mask;            // [context, context] bool: whether row (query) sees column (key)
  at::Tensor minus_infinity;  // scalar on the device: a host scalar would be copied or filled anew in every layer
};

struct AttentionConstantsConfig {
  std::int64_t context{};
  std::int64_t num_heads{};
  std::int64_t head_dim{};
  at::TensorOptions options;     // device, and dtype of the parameters
  at::ScalarType score_dtype{};  // what q k^T comes out as: the autocast dtype, or the parameters'
};

/// Copy to the device: not for a step.
[[nodiscard]] AttentionConstants make_eager_attention_constants(const AttentionConstantsConfig& config);
[[nodiscard]] AttentionConstants make_fused_attention_constants(const AttentionConstantsConfig& config);

/// Three projections, scores in memory, mask by `where`, softmax from elementary operations.
/// @param x        [batch, context, d_model]
/// @param weights  q, k, v, output
/// @return         [batch, context, d_model]
[[nodiscard]] at::Tensor eager_attention(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);

/// Softmax over the last dimension: exp(x - max) / sum.
[[nodiscard]] at::Tensor eager_softmax(const at::Tensor& x);

/// One matrix product for q, k and v, then ATen's fused attention by explicit operator: flash for 16 bit on CUDA,
/// memory-efficient for float32 there, flash for the CPU otherwise.
/// @param weights  qkv, output
[[nodiscard]] at::Tensor fused_attention(const at::Tensor& x, const AttentionWeights& weights,
                                         const AttentionConstants& constants);

/// The same around our own kernels (flash_attention.hpp), on CUDA alone; float32 with TF32 products where the process
/// allows them.
[[nodiscard]] at::Tensor flash_fused_attention(const at::Tensor& x, const AttentionWeights& weights,
                                               const AttentionConstants& constants);

}  // namespace tbench::model

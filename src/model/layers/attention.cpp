#include "model/layers/attention.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "model/layers/flash_attention.hpp"
#include "model/layers/shared_heads.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::model {
namespace {

using cuda::in_range;

constexpr bool kCausal = true;

/// Runs ATen's fused attention. q and the result are [batch, heads, context, head_dim], k and v [batch, kv_heads,
/// context, head_dim]. The flash operators read grouped heads in place; the memory-efficient operator needs copies.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  if (q.is_cpu()) return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, kNoDropout, kCausal));
  if (q.scalar_type() == at::kBFloat16 || q.scalar_type() == at::kHalf) {
    return std::get<0>(at::_scaled_dot_product_flash_attention(q, k, v, kNoDropout, kCausal));
  }
  // Only the backward pass needs the row sums' logarithms.
  const bool with_log_sum_exp = at::GradMode::is_enabled() && q.requires_grad();
  return std::get<0>(
      at::_scaled_dot_product_efficient_attention(q, repeated_heads(k, q.size(1)), repeated_heads(v, q.size(1)),
                                                  /*attn_bias=*/{}, with_log_sum_exp, kNoDropout, kCausal));
}

/// Runs our own kernels. float32 tensors are multiplied in TF32 if the process's switch allows it, like all other
/// matrix products.
at::Tensor attend_flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  Precision precision = at::globalContext().allowTF32CuBLAS() ? Precision::kTf32 : Precision::kFp32;
  if (q.scalar_type() == at::kBFloat16) precision = Precision::kBf16;
  if (q.scalar_type() == at::kHalf) precision = Precision::kFp16;
  return flash_attention(q, k, v,
                         {.causal = kCausal,
                          .scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1))),
                          .precision = precision,
                          .deterministic = false});
}

/// Returns q and k, [batch, context, heads + kv_heads, head_dim], after their norms. The fused operator needs weights
/// of the input's type.
at::Tensor normalised(const at::Tensor& qk, const AttentionWeights& weights, const AttentionConstants& constants) {
  const auto parts = qk.split_with_sizes({constants.num_heads, constants.kv_heads}, 2);
  const auto norm = [](const at::Tensor& x, const at::Tensor& weight) {
    return fused_rms_norm(x, weight.to(x.scalar_type()));
  };
  return in_range("attention.qk_norm", [&] {
    return at::cat({norm(parts[0], weights.q_norm), norm(parts[1], weights.k_norm)}, 2);
  });
}

/// Runs one matrix product for q, k and v, the norms of q and k if there are some, RoPE, `core` on [batch, heads,
/// context, head_dim], and the output projection.
at::Tensor attention_around(at::Tensor (*core)(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v),
                            const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const std::int64_t batch = x.size(0), context = x.size(1);
  const std::int64_t heads = constants.num_heads, kv_heads = constants.kv_heads;
  const at::Tensor qkv = in_range("attention.qkv", [&] {
                           return at::linear(x, weights.qkv);
                         }).view({batch, context, heads + 2 * kv_heads, constants.head_dim});
  // Uses splits instead of slices: the backward of a split is one concatenation; the backward of slices makes a
  // zero-filled tensor per slice.
  const auto parts = qkv.split_with_sizes({heads + kv_heads, kv_heads}, 2);
  const at::Tensor to_turn = weights.q_norm.defined() ? normalised(parts[0], weights, constants) : parts[0];
  const auto qk = in_range("attention.rope", [&] {
                    return fused_rope(to_turn.unsqueeze(2), constants.rotation).squeeze(2);
                  }).split_with_sizes({heads, kv_heads}, 2);
  const at::Tensor attended = in_range(
      "attention.core", [&] { return core(qk[0].transpose(1, 2), qk[1].transpose(1, 2), parts[1].transpose(1, 2)); });
  return in_range("attention.out_proj",
                  [&] { return at::linear(attended.transpose(1, 2).flatten(-2), weights.output); });
}

AttentionConstants constants_of(const ModelSize& size) {
  AttentionConstants constants;
  constants.num_heads = size.num_heads;
  constants.kv_heads = size.kv_heads();
  constants.head_dim = size.head_dim();
  return constants;
}

}  // namespace

AttentionConstants make_unmasked_attention_constants(const AttentionConstantsConfig& config) {
  AttentionConstants constants = constants_of(config.size);
  constants.rope = make_rope_table(config.context, config.size.head_dim(), config.options, config.size.rope_theta);
  constants.minus_infinity =
      at::scalar_tensor(-std::numeric_limits<double>::infinity(), config.options.dtype(config.score_dtype));
  return constants;
}

AttentionConstants make_eager_attention_constants(const AttentionConstantsConfig& config) {
  AttentionConstants constants = make_unmasked_attention_constants(config);
  constants.mask = at::ones({config.context, config.context}, config.options.dtype(at::kBool)).tril();
  return constants;
}

AttentionConstants make_fused_attention_constants(const AttentionConstantsConfig& config) {
  AttentionConstants constants = constants_of(config.size);
  constants.rotation =
      make_rope_rotation(config.context, config.size.head_dim(), config.options, config.size.rope_theta);
  return constants;
}

at::Tensor eager_softmax(const at::Tensor& x) {
  const at::Tensor exponentials = at::exp(x.sub(at::amax(x, -1, /*keepdim=*/true)));
  return exponentials.div(exponentials.sum(-1, /*keepdim=*/true));
}

AttentionHeads eager_heads(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const std::int64_t batch = x.size(0), context = x.size(1);
  const auto project = [&](const at::Tensor& weight) {
    return in_range("attention.qkv", [&] { return at::linear(x, weight); })
        .view({batch, context, -1, constants.head_dim})
        .transpose(1, 2);
  };
  const auto norm = [&](const at::Tensor& projected, const at::Tensor& weight) {
    if (!weight.defined()) return projected;
    return in_range("attention.qk_norm", [&] { return eager_rms_norm(projected, weight); });
  };
  const auto repeat = [&](const at::Tensor& shared) {
    if (constants.kv_heads == constants.num_heads) return shared;
    return in_range("attention.repeat_kv", [&] { return repeated_heads(shared, constants.num_heads); });
  };
  const auto rope = [&](const char* name, const at::Tensor& projected) {
    return in_range(name, [&] { return eager_rope(projected, constants.rope); });
  };
  const at::Tensor q = rope("attention.rope_q", norm(project(weights.q), weights.q_norm));
  const at::Tensor k = repeat(rope("attention.rope_k", norm(project(weights.k), weights.k_norm)));
  return {.q = q, .k = k, .v = repeat(project(weights.v))};
}

at::Tensor eager_core(const AttentionHeads& heads, const at::Tensor& mask, const at::Tensor& minus_infinity) {
  const auto masked = [&](const at::Tensor& unmasked) {
    return in_range("attention.scores", [&] {
      return in_range("attention.mask", [&] { return at::where(mask, unmasked, minus_infinity); });
    });
  };
  const auto softmax = [](const at::Tensor& scores) {
    return in_range("attention.softmax", [&] { return eager_softmax(scores); });
  };
  const at::Tensor scores = in_range("attention.scores", [&] {
    return at::matmul(heads.q, heads.k.transpose(-2, -1)).div(std::sqrt(static_cast<double>(heads.q.size(-1))));
  });
  const at::Tensor probabilities = softmax(masked(scores));
  return in_range("attention.context", [&] { return at::matmul(probabilities, heads.v).transpose(1, 2).flatten(-2); });
}

at::Tensor eager_attention(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  const at::Tensor attended = eager_core(eager_heads(x, weights, constants), constants.mask, constants.minus_infinity);
  return in_range("attention.out_proj", [&] { return at::linear(attended, weights.output); });
}

at::Tensor fused_attention(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants) {
  return attention_around(&attend, x, weights, constants);
}

at::Tensor flash_fused_attention(const at::Tensor& x, const AttentionWeights& weights,
                                 const AttentionConstants& constants) {
  return attention_around(&attend_flash, x, weights, constants);
}

}  // namespace tbench::model

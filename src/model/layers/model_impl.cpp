#include "model/layers/model_impl.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/linear.h>
#include <fmt/format.h>

#include "model/attention/flash_attention.hpp"
#include "model/compiled/compiled_passes.hpp"
#include "model/compiled/packages.hpp"
#include "model/fused/fused_passes.hpp"
#include "model/layers/layers.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::model {

using cuda::in_range;

namespace {

// ATen's flash kernels (FlashAttention-2) take head dimensions up to 256, padded to a multiple of 8 by the caller;
// the memory-efficient kernels read float32 in vectors of 4.
constexpr std::int64_t kFlashMaxHeadDim = 256;
constexpr std::int64_t kFlashHeadDimMultiple = 8;
constexpr std::int64_t kEfficientHeadDimMultiple = 4;
constexpr int kFlashMinMajor = 8;

std::optional<std::string> sdpa_unsupported_reason(const ModelConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  const std::int64_t head_dim = config.size.head_dim();
  if (config.precision == Precision::kFp32 || config.precision == Precision::kTf32) {
    if (head_dim % kEfficientHeadDimMultiple == 0) return std::nullopt;
    return fmt::format("memory-efficient attention needs a head_dim that is a multiple of {}, not {}",
                       kEfficientHeadDimMultiple, head_dim);
  }
  if (head_dim % kFlashHeadDimMultiple != 0 || head_dim > kFlashMaxHeadDim) {
    return fmt::format("flash attention needs a head_dim that is a multiple of {} and at most {}, not {}",
                       kFlashHeadDimMultiple, kFlashMaxHeadDim, head_dim);
  }
  const auto* properties = at::cuda::getCurrentDeviceProperties();
  if (properties->major >= kFlashMinMajor) return std::nullopt;
  return fmt::format("flash attention needs compute capability 8.0, the GPU has {}.{}", properties->major,
                     properties->minor);
}

std::optional<std::string> own_attention_refusal(const ModelConfig& config) {
  if (config.device == DeviceKind::kCpu) return "our kernels run on GPUs only";
  return flash_unsupported_reason({.batch = config.batch,
                                   .heads = config.size.num_heads,
                                   .seq_q = config.context,
                                   .seq_kv = config.context,
                                   .head_dim = config.size.head_dim(),
                                   .causal = true},
                                  config.precision);
}

std::optional<std::string> fused_unsupported_reason(const ModelConfig& config) {
  if (auto reason = own_attention_refusal(config)) return reason;
  if (config.size.d_model <= kernels::kNormMaxWidth) return std::nullopt;
  return fmt::format("our norm takes rows of up to {} elements, d_model is {}", kernels::kNormMaxWidth,
                     config.size.d_model);
}

}  // namespace

at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights, const AttentionTables& tables) {
  const auto norm = [&](const at::Tensor& input, const at::Tensor& weight) {
    return in_range("norm", [&] { return ops.rms_norm(input, weight); });
  };
  const auto attention = [&](const at::Tensor& input) {
    return in_range("attention", [&] { return ops.attention(input, weights.attention, tables); });
  };
  const auto feed_forward = [&](const at::Tensor& input) {
    return in_range("ffn", [&] { return ops.feed_forward(input, weights.feed_forward); });
  };
  const at::Tensor attended = x.add(attention(norm(x, weights.ln1)));
  return attended.add(feed_forward(norm(attended, weights.ln2)));
}

at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                       const AttentionTables& tables) {
  at::Tensor x = in_range("embedding", [&] { return ops.embedding(weights.token_embeddings, tokens); });
  for (const auto& layer : weights.blocks) {
    const cuda::Range range{layer.name.c_str()};
    x = block(ops, x, layer, tables);
  }
  const at::Tensor normed = in_range("norm", [&] { return ops.rms_norm(x, weights.ln_final); });
  return in_range("lm_head", [&] { return at::linear(normed, weights.lm_head); });
}

/// `eager`: operation by operation as the course's PyTorch code does it, AdamW as PyTorch's default on a GPU (foreach).
ModelImpl eager_impl() {
  return {.name = "eager",
          .ops = {.embedding = &eager_embedding,
                  .rms_norm = &eager_rms_norm,
                  .attention = &eager_attention,
                  .feed_forward = &eager_swiglu,
                  .cross_entropy = &eager_cross_entropy,
                  .make_attention_tables = &make_eager_attention_tables},
          .make_passes = nullptr,
          .layout = {},
          .optimizer = AdamWVariant::kForeach,
          .unsupported_reason = nullptr};
}

/// `sdpa`: the best that stock LibTorch gives. Fused attention by explicit operator, fused rms_norm, silu and cross
/// entropy, fused AdamW. q, k and v of a layer lie in one tensor: one matrix product instead of three, one cast of the
/// input; the parameters keep their names, as slices.
ModelImpl sdpa_impl() {
  return {.name = "sdpa",
          .ops = {.embedding = &fused_embedding,
                  .rms_norm = &fused_rms_norm,
                  .attention = &fused_attention,
                  .feed_forward = &fused_swiglu,
                  .cross_entropy = &fused_cross_entropy,
                  .make_attention_tables = &make_fused_attention_tables},
          .make_passes = nullptr,
          .layout = {.fused_qkv = true},
          .optimizer = AdamWVariant::kFused,
          .unsupported_reason = &sdpa_unsupported_reason};
}

/// `flash`: as `sdpa`, with our own fused attention kernels, forward and backward.
ModelImpl flash_impl() {
  ModelImpl impl = sdpa_impl();
  impl.name = "flash";
  impl.ops.attention = &flash_fused_attention;
  impl.unsupported_reason = &own_attention_refusal;
  return impl;
}

/// `fused`: the step written out over our own kernels and cuBLASLt's products, without autograd.
ModelImpl fused_impl() {
  return {.name = "fused",
          .make_passes = &make_fused_passes,
          .layout = {.fused_qkv = true, .fused_gate_up = true},
          .optimizer = AdamWVariant::kOwnKernel,
          .unsupported_reason = &fused_unsupported_reason};
}

/// `compiled`: what torch.compile makes of the model with PyTorch's own functions, loaded from packages.
ModelImpl compiled_impl() {
  return {.name = "compiled",
          .make_passes = &make_compiled_passes,
          .layout = {.fused_qkv = true},
          .optimizer = AdamWVariant::kFused,
          .unsupported_reason = &model_packages_refusal};
}

Registry<ModelImpl>& model_impls() {
  static Registry<ModelImpl> impls{"impl", {eager_impl(), sdpa_impl(), flash_impl(), fused_impl(), compiled_impl()}};
  return impls;
}

const ModelImpl& checked_model_impl(const ModelConfig& config) {
  const ModelImpl& impl = model_impls().at(config.impl);
  const ModelSize& size = config.size;
  for (const std::int64_t extent :
       {size.d_model, size.d_ff, size.num_layers, size.num_heads, config.context, config.batch, config.vocab_size}) {
    if (extent <= 0) throw UsageError{fmt::format("size:{}: the extent {} is not positive", size.name, extent)};
  }
  if (size.d_model % size.num_heads != 0 || size.head_dim() % 2 != 0) {
    throw UsageError{fmt::format("size:{}: d_model {} over {} heads does not give an even head_dim", size.name,
                                 size.d_model, size.num_heads)};
  }
  return impl;
}

std::vector<std::string> model_impl_names() { return model_impls().names(); }

}  // namespace tbench::model

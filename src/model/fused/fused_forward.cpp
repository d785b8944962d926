// The forward pass of `impl:fused`.
#include <ATen/ops/mean.h>

#include <stdexcept>

#include "model/fused/fused_passes.hpp"
#include "tbench/cuda/range.hpp"
#include "tbench/kernels/cross_entropy.hpp"

namespace tbench::model {

using cuda::in_range;

at::Tensor FusedPasses::logits(const at::Tensor& tokens) {
  if (chunked_head_) throw std::logic_error{"impl:fused: a step whose head runs in chunks never has all logits"};
  forward(tokens);
  return logits_;
}

StepOutputs FusedPasses::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  forward(tokens);
  if (chunked_head_) return chunked_loss(targets);
  in_range("loss", [&] {
    const HeadBuffers& head = buffers_.head;
    kernels::cross_entropy({.rows = extents_.tokens(),
                            .width = config_.size.vocab_size,
                            .precision = storage_,
                            .logits = head.logits,
                            .targets = targets.const_data_ptr<std::int64_t>(),
                            .gradient = head.dlogits,
                            .factor = 1.0F / static_cast<float>(extents_.tokens()),
                            .scale = loss_scale_.defined() ? loss_scale_.const_data_ptr<float>() : nullptr,
                            .losses = head.losses,
                            .lse = nullptr},
                           current_stream());
    at::mean_out(loss_, losses_, at::IntArrayRef{0});
  });
  return {.logits = logits_, .loss = loss_};
}

StepOutputs FusedPasses::chunked_loss(const at::Tensor& targets) {
  const HeadBuffers& head = buffers_.head;
  in_range("lm_head", [&] {
    chunked_head_->run({.x = head.normed,
                        .weight = matrix(head_leaf()),
                        .targets = targets.const_data_ptr<std::int64_t>(),
                        .factor = 1.0F / static_cast<float>(extents_.tokens()),
                        .scale = loss_scale_.defined() ? loss_scale_.const_data_ptr<float>() : nullptr,
                        .logits = head.logits,
                        .dx = buffers_.scratch.dnormed,
                        .dweight = buffers_.gradients[head_leaf()],
                        .losses = head.losses,
                        .lse = head.lse});
  });
  in_range("loss", [&] { at::mean_out(loss_, losses_, at::IntArrayRef{0}); });
  return {.logits = {}, .loss = loss_, .losses = losses_, .lse = lse_};
}

void FusedPasses::forward(const at::Tensor& tokens) {
  tokens_ = tokens.const_data_ptr<std::int64_t>();
  in_range("embedding", [&] {
    kernels::embedding_forward(embedding_shape(), tokens_, parameters_.leaves().front().const_data_ptr<float>(),
                               buffers_.layers.front().x, current_stream());
  });
  for (std::size_t layer = 0; layer < buffers_.layers.size(); ++layer) {
    const cuda::Range range{parameters_.weights().blocks[layer].name.c_str()};
    forward_layer(layer);
  }
  const HeadBuffers& head = buffers_.head;
  norm(buffers_.layers.back().x_mid, norm_weight(ln_final()), head.x, head.normed, head.rstd);
  if (chunked_head_) return;
  in_range("lm_head", [&] { linears_.lm_head.forward(head.normed, matrix(head_leaf()), head.logits); });
}

void FusedPasses::forward_layer(std::size_t layer) {
  const LayerBuffers& buffers = buffers_.layers[layer];
  const LayerWeights weights = weights_of(layer);
  if (layer == 0) {
    norm(buffers.x, weights.ln1, nullptr, buffers.normed, buffers.rstd);
  } else {
    norm(buffers_.layers[layer - 1].x_mid, weights.ln1, buffers.x, buffers.normed, buffers.rstd);
  }
  in_range("attention", [&] { attention_forward(buffers, weights); });
  norm(buffers.x, weights.ln2, buffers.x_mid, buffers.normed_mid, buffers.rstd_mid);
  in_range("ffn", [&] { feed_forward(buffers, weights); });
}

void FusedPasses::norm(const float* x, const float* weight, float* sum, void* normed, float* rstd) {
  in_range("norm", [&] {
    kernels::norm_forward(norm_,
                          {.x = x,
                           .branch = sum == nullptr ? nullptr : buffers_.scratch.branch,
                           .weight = weight,
                           .sum = sum,
                           .normed = normed,
                           .rstd = rstd},
                          current_stream());
  });
}

void FusedPasses::feed_forward(const LayerBuffers& buffers, const LayerWeights& weights) {
  linears_.gate_up.forward(buffers.normed_mid, weights.gate_up, buffers.gate_up);
  kernels::swiglu_forward(swiglu_shape(), gate_and_up<const void*>(buffers.gate_up), buffers.h, current_stream());
  linears_.w2.forward(buffers.h, weights.w2, buffers_.scratch.branch);
}

}  // namespace tbench::model

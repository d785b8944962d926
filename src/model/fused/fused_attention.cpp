// Attention of `impl:fused`, forward and backward: the product of q, k and v, RoPE in place (with qk_norm, norms and
// RoPE to another buffer), our attention kernels, which read and write heads in these buffers, and the output
// projection.
#include "model/fused/fused_passes.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::model {

using cuda::in_range;

kernels::TensorView FusedPasses::heads_of(void* product, std::int64_t first, std::int64_t heads) const {
  const std::int64_t head_dim = config_.size.head_dim(), row = heads * head_dim;
  return {.data = static_cast<char*>(product) + first * head_dim * extents_.element_bytes,
          .strides = {config_.context * row, head_dim, row}};
}

FusedPasses::QkvViews FusedPasses::parts_of(void* qkv) const {
  const std::int64_t heads = config_.size.num_heads, kv_heads = config_.size.kv_heads();
  const std::int64_t all = heads + 2 * kv_heads;
  return {.q = heads_of(qkv, 0, all), .k = heads_of(qkv, heads, all), .v = heads_of(qkv, heads + kv_heads, all)};
}

FusedPasses::QkvViews FusedPasses::attention_inputs(const LayerBuffers& buffers) const {
  QkvViews parts = parts_of(buffers.qkv);
  if (!extents_.qk_norm) return parts;
  const std::int64_t heads = config_.size.num_heads, all = heads + config_.size.kv_heads();
  parts.q = heads_of(buffers.qk, 0, all);
  parts.k = heads_of(buffers.qk, heads, all);
  return parts;
}

void FusedPasses::plan_attention() {
  const kernels::DeviceLimits limits = kernels::current_device_limits();
  attention_.layout = layout_of(forward_arguments(buffers_.layers.front()));
  attention_forward_plan_ = plan_attention_forward(attention_, limits);
  if (!extents_.has_backward) return;
  attention_.layout = layout_of(backward_arguments(/*layer=*/0));
  attention_backward_plan_ = plan_attention_backward(attention_, limits);
}

kernels::AttentionForward FusedPasses::forward_arguments(const LayerBuffers& buffers) const {
  const QkvViews inputs = attention_inputs(buffers);
  return {.q = inputs.q,
          .k = inputs.k,
          .v = inputs.v,
          .o = heads_of(buffers.attended, 0, config_.size.num_heads),
          .lse = buffers.lse,
          .workspace = buffers_.scratch.attention_workspace};
}

void FusedPasses::attention_forward(const LayerBuffers& buffers, const LayerWeights& weights) {
  in_range("attention.qkv", [&] { linears_.qkv.forward(buffers.normed, weights.qkv, buffers.qkv); });
  if (extents_.qk_norm) {
    in_range("attention.qk_norm", [&] { qk_norm_forward(buffers, weights); });
  } else {
    in_range("attention.rope", [&] { rope(buffers.qkv, /*backward=*/false); });
  }
  in_range("attention.core",
           [&] { kernels::attention_forward(*attention_forward_plan_, forward_arguments(buffers), current_stream()); });
  in_range("attention.out_proj",
           [&] { linears_.output.forward(buffers.attended, weights.output, buffers_.scratch.branch); });
}

kernels::AttentionBackward FusedPasses::backward_arguments(std::size_t layer) const {
  const kernels::AttentionForward forward = forward_arguments(buffers_.layers[layer]);
  const QkvViews gradients = parts_of(of_layer(layer).dqkv);
  return {.q = forward.q,
          .k = forward.k,
          .v = forward.v,
          .o = forward.o,
          .lse = forward.lse,
          .grad_o = heads_of(buffers_.scratch.dattended, 0, config_.size.num_heads),
          .dq = gradients.q,
          .dk = gradients.k,
          .dv = gradients.v,
          .workspace = forward.workspace};
}

void FusedPasses::attention_backward(std::size_t layer, bool beside_updates) {
  const LayerBuffers& buffers = buffers_.layers[layer];
  const LayerWeights weights = weights_of(layer);
  const LayerGradients gradients = gradients_of(layer);
  const ScratchBuffers& scratch = buffers_.scratch;
  const ScratchBuffers::OfLayer& kept = of_layer(layer);
  in_range("attention.out_proj", [&] {
    side_.run(
        [&] { linears_.output.weight_gradient(kept.dattention, buffers.attended, gradients.output, beside_updates); });
    linears_.output.input_gradient(kept.dattention, weights.output, scratch.dattended, beside_updates);
  });
  in_range("attention.core", [&] {
    kernels::attention_backward(*attention_backward_plan_, backward_arguments(layer), current_stream());
  });
  if (extents_.qk_norm) {
    in_range("attention.qk_norm", [&] { qk_norm_backward(layer); });
  } else {
    in_range("attention.rope", [&] { rope(kept.dqkv, /*backward=*/true); });
  }
  in_range("attention.qkv", [&] {
    side_.run([&] { linears_.qkv.weight_gradient(kept.dqkv, buffers.normed, gradients.qkv, beside_updates); });
    linears_.qkv.input_gradient(kept.dqkv, weights.qkv, scratch.dnormed, beside_updates);
  });
}

void FusedPasses::rope(void* qkv, bool backward) const {
  const QkvViews parts = parts_of(qkv);
  // With as many heads of k as of q, there are two parts, and a thread loads the angles once for both. Otherwise q and
  // k are one part, because the heads of k follow the heads of q.
  const std::int64_t heads = config_.size.num_heads, kv_heads = config_.size.kv_heads();
  const int count = heads == kv_heads ? 2 : 1;
  kernels::RopeProblem problem{.batch = config_.batch,
                               .heads = count == 2 ? heads : heads + kv_heads,
                               .seq = config_.context,
                               .head_dim = config_.size.head_dim(),
                               .precision = storage_,
                               .parts = count,
                               .turned = count,
                               .from = {parts.q, parts.k},
                               .to = {parts.q, parts.k},
                               .cos = rope_.cos.const_data_ptr<float>(),
                               .sin = rope_.sin.const_data_ptr<float>(),
                               .backward = backward};
  kernels::rope(problem, current_stream());
}

kernels::QkNormRopeConstants FusedPasses::qk_norm_constants(const LayerWeights& weights) const {
  return {.q_weight = weights.q_norm,
          .k_weight = weights.k_norm,
          .cos = rope_.cos.const_data_ptr<float>(),
          .sin = rope_.sin.const_data_ptr<float>()};
}

void FusedPasses::qk_norm_forward(const LayerBuffers& buffers, const LayerWeights& weights) const {
  kernels::qk_norm_rope_forward(qk_norm_,
                                {.constants = qk_norm_constants(weights),
                                 .x = q_and_k_of(buffers.qkv),
                                 .y = {.data = buffers.qk, .stride = extents_.q_width + extents_.kv_width}},
                                current_stream());
}

void FusedPasses::qk_norm_backward(std::size_t layer) {
  if (pending_qk_norms_.size() == kPendingQkNorms) add_up_norms();
  float* const workspace = buffers_.scratch.qk_norm_workspaces[pending_qk_norms_.size()];
  const kernels::QkHeads gradients = q_and_k_of(of_layer(layer).dqkv);
  kernels::qk_norm_rope_backward(qk_norm_,
                                 {.constants = qk_norm_constants(weights_of(layer)),
                                  .x = q_and_k_of(buffers_.layers[layer].qkv),
                                  .dy = gradients,
                                  .dx = gradients,
                                  .workspace = workspace},
                                 current_stream());
  const LayerGradients of_weights = gradients_of(layer);
  pending_qk_norms_.push_back({.workspace = workspace, .dq_weight = of_weights.q_norm, .dk_weight = of_weights.k_norm});
}

}  // namespace tbench::model

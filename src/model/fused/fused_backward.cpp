// The backward pass of `impl:fused`: every gradient from the formula of its operation, beginning at the loss.
#include <numeric>

#include "model/fused/fused_passes.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::model {

using cuda::in_range;

static_assert(kLayersInFlight == SideStream::kMarks);

void FusedPasses::backward(const UpdateHook& update) {
  show_gradients();
  pending_norms_.clear();  // left by a step that ended with an error
  pending_qk_norms_.clear();
  backward_head();
  for (std::size_t layer = buffers_.layers.size(); layer-- > 0;) {
    const cuda::Range range{parameters_.weights().blocks[layer].name.c_str()};
    backward_layer(layer, update);
  }
  in_range("norm", [&] { add_up_norms(); });
  // A tied table already holds the head's gradient, for which this stream waited in the last layer's backward.
  const auto of_embedding = extents_.tied ? &kernels::embedding_backward_add : &kernels::embedding_backward;
  in_range("embedding", [&] {
    of_embedding(embedding_shape(), tokens_, stream_gradient_, buffers_.gradients.front(), current_stream());
  });
  side_.join();
  if (update) updates_.join();
}

void FusedPasses::update_beside(const UpdateHook& update, std::size_t layer) {
  if (!update || !is_updated_beside(layer)) return;
  // The first leaf of a layer, and of the head, is a norm's weight.
  std::vector<std::size_t> matrices(layer == buffers_.layers.size() ? 1 : kFusedMatricesOfLayer);
  std::iota(matrices.begin(), matrices.end(), 1 + extents_.leaves_of_layer() * layer + 1);
  updates_.run([&] {
    side_.wait_for(layer % SideStream::kMarks);
    in_range("optimizer.weights", [&] { update(matrices, update_plan_.multiprocessors); });
  });
}

void FusedPasses::backward_head() {
  const HeadBuffers& head = buffers_.head;
  in_range("lm_head", [&] {
    side_.run([&] {
      if (chunked_head_)
        return;  // its gradients are complete; the mark needs the side stream in a capture all the same
      linears_.lm_head.weight_gradient(head.dlogits, head.normed, buffers_.gradients[head_leaf()],
                                       /*beside_updates=*/false);
    });
    side_.mark(buffers_.layers.size() % SideStream::kMarks);
    if (chunked_head_) return;
    linears_.lm_head.input_gradient(head.dlogits, matrix(head_leaf()), buffers_.scratch.dnormed,
                                    /*beside_updates=*/false);
  });
  stream_gradient_ = nullptr;
  norm_backward(head.x, norm_weight(ln_final()), head.rstd, static_cast<float*>(buffers_.gradients[ln_final()]),
                of_layer(buffers_.layers.size() - 1).dffn);
}

void FusedPasses::backward_layer(std::size_t layer, const UpdateHook& update) {
  const LayerBuffers& buffers = buffers_.layers[layer];
  const LayerWeights weights = weights_of(layer);
  const LayerGradients gradients = gradients_of(layer);
  const bool has_updates = update && is_updated_beside(layer + 1);
  const bool beside_all = has_updates && update_plan_.beside_all;
  if (beside_all) update_beside(update, layer + 1);
  in_range("ffn", [&] { activation_backward(layer, beside_all); });
  if (!beside_all) update_beside(update, layer + 1);
  in_range("ffn", [&] { feed_forward_products_backward(layer, has_updates); });
  norm_backward(buffers.x_mid, weights.ln2, buffers.rstd_mid, gradients.ln2, of_layer(layer).dattention);
  in_range("attention", [&] { attention_backward(layer, beside_all); });
  // The next layer overwrites the inputs of the previous layer's weight gradients.
  side_.wait_for((layer + 1) % SideStream::kMarks);
  side_.mark(layer % SideStream::kMarks);
  norm_backward(buffers.x, weights.ln1, buffers.rstd, gradients.ln1, of_layer(layer + 1).dffn);
}

void FusedPasses::norm_backward(const float* sum, const float* weight, const float* rstd, float* dweight,
                                void* dbranch) {
  const ScratchBuffers& scratch = buffers_.scratch;
  float* const workspace = scratch.norm_workspaces[pending_norms_.size()];
  float* const dx = stream_gradient_ == scratch.dx[0] ? scratch.dx[1] : scratch.dx[0];
  in_range("norm", [&] {
    kernels::norm_backward(norm_,
                           {.sum = sum,
                            .weight = weight,
                            .rstd = rstd,
                            .dnormed = scratch.dnormed,
                            .dsum = stream_gradient_,
                            .dx = dx,
                            .dbranch = dbranch,
                            .dweight = nullptr,
                            .workspace = workspace},
                           current_stream());
    pending_norms_.push_back({.workspace = workspace, .dweight = dweight});
    if (pending_norms_.size() == kPendingNorms) add_up_norms();
  });
  stream_gradient_ = dx;
}

void FusedPasses::add_up_norms() {
  kernels::norm_weight_gradients(norm_, pending_norms_, current_stream());
  pending_norms_.clear();
  if (pending_qk_norms_.empty()) return;
  kernels::qk_norm_weight_gradients(qk_norm_, pending_qk_norms_, current_stream());
  pending_qk_norms_.clear();
}

void FusedPasses::activation_backward(std::size_t layer, bool beside_updates) {
  const ScratchBuffers& scratch = buffers_.scratch;
  const ScratchBuffers::OfLayer& kept = of_layer(layer);
  linears_.w2.input_gradient(kept.dffn, weights_of(layer).w2, scratch.dh, beside_updates);
  void* const gate_up = buffers_.layers[layer].gate_up;
  kernels::swiglu_backward(swiglu_shape(),
                           {.inputs = gate_and_up<const void*>(gate_up),
                            .dh = scratch.dh,
                            .gradients = gate_and_up<void*>(gate_up),
                            .h = kept.h},
                           current_stream());
}

void FusedPasses::feed_forward_products_backward(std::size_t layer, bool beside_updates) {
  const LayerBuffers& buffers = buffers_.layers[layer];
  const LayerGradients gradients = gradients_of(layer);
  const ScratchBuffers::OfLayer& kept = of_layer(layer);
  side_.run([&] {
    linears_.w2.weight_gradient(kept.dffn, kept.h, gradients.w2, beside_updates);
    linears_.gate_up.weight_gradient(buffers.gate_up, buffers.normed_mid, gradients.gate_up, beside_updates);
  });
  linears_.gate_up.input_gradient(buffers.gate_up, weights_of(layer).gate_up, buffers_.scratch.dnormed, beside_updates);
}

}  // namespace tbench::model

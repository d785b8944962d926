// `impl:fused`: a model's passes written out with our own kernels and cuBLASLt's products, without autograd, in one
// block of memory that is planned in advance.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/fused/chunked_head.hpp"
#include "model/fused/products.hpp"
#include "model/fused/side_stream.hpp"
#include "model/fused/step_buffers.hpp"
#include "model/fused/update_plan.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_passes.hpp"
#include "tbench/kernels/attention.hpp"
#include "tbench/kernels/embedding.hpp"
#include "tbench/kernels/qk_norm_rope.hpp"
#include "tbench/kernels/rmsnorm.hpp"
#include "tbench/kernels/rope.hpp"
#include "tbench/kernels/swiglu.hpp"

namespace tbench::model {

/// The passes of one model. The residual stream, the table of embeddings, the norms' weights and their gradients are
/// float32; everything else has the precision's type (in fp16, gradients of weights are float32). Products read copies
/// of the weights in that type, which are made when the parameters change. If step_divides_head(), the forward pass of
/// a training step computes the head's gradients, too, chunk by chunk, and the gradient of its weight is float32.
class FusedPasses final : public ModelPasses {
 public:
  /// Allocates everything that the passes of the configured kind need.
  explicit FusedPasses(const PassesInputs& inputs);

  /// @throws  std::logic_error  for a training step whose head runs in chunks: it has no memory for all logits
  at::Tensor logits(const at::Tensor& tokens) override;
  StepOutputs loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  void backward(const UpdateHook& update) override;
  void parameters_changed() override;
  [[nodiscard]] const std::vector<at::Tensor>& copies() const override { return copies_; }
  [[nodiscard]] std::optional<HeldBytes> held_bytes() const override;

 private:
  /// Weights that the products of a layer read, in the compute type; norms' weights in float32.
  struct LayerWeights {
    const float* ln1;
    const void *qkv, *output, *gate_up, *w2;
    const float* ln2;
    const float *q_norm, *k_norm;  // null without qk_norm
  };
  /// Destinations of a layer's gradients, in the order of its leaves.
  struct LayerGradients {
    float* ln1;
    void *qkv, *output, *gate_up, *w2;
    float* ln2;
    float *q_norm, *k_norm;  // null without qk_norm
  };
  struct QkvViews {
    kernels::TensorView q, k, v;
  };
  struct Linears {
    Linear qkv, output, gate_up, w2, lm_head;
  };

  void make_copies();
  void allocate();
  void show_gradients();
  [[nodiscard]] Linear linear(std::int64_t in, std::int64_t out, bool adds_to_gradient = false) const;
  /// Return indexes of leaves: the last norm's weight, and the LM head's matrix, which may be the table of embeddings.
  [[nodiscard]] std::size_t ln_final() const { return 1 + extents_.leaves_of_layer() * buffers_.layers.size(); }
  [[nodiscard]] std::size_t head_leaf() const { return extents_.tied ? 0 : ln_final() + 1; }
  [[nodiscard]] const float* norm_weight(std::size_t leaf) const;
  [[nodiscard]] const void* matrix(std::size_t leaf) const;
  [[nodiscard]] LayerWeights weights_of(std::size_t layer) const;
  [[nodiscard]] LayerGradients gradients_of(std::size_t layer) const;

  /// Runs the forward pass up to the logits, or up to the final norm if the head runs in chunks.
  void forward(const at::Tensor& tokens);
  /// Runs the head in chunks after forward(): the losses, and the gradients of the final norm's output and the weight.
  StepOutputs chunked_loss(const at::Tensor& targets);
  void forward_layer(std::size_t layer);
  void attention_forward(const LayerBuffers& buffers, const LayerWeights& weights);
  /// Plans the attention passes once for all layers, whose tensors have the same layout.
  void plan_attention();
  [[nodiscard]] kernels::AttentionForward forward_arguments(const LayerBuffers& buffers) const;
  [[nodiscard]] kernels::AttentionBackward backward_arguments(std::size_t layer) const;
  void feed_forward(const LayerBuffers& buffers, const LayerWeights& weights);
  /// Writes x + branch to `sum` and normalises it; normalises x if `sum` is null.
  void norm(const float* x, const float* weight, float* sum, void* normed, float* rstd);

  void backward_head();
  void backward_layer(std::size_t layer, const UpdateHook& update);
  /// Computes the gradients of gate and up from the gradient of the feed-forward part's output.
  void activation_backward(std::size_t layer, bool beside_updates);
  /// Continues from the gradients of gate and up with the largest products of a layer.
  void feed_forward_products_backward(std::size_t layer, bool beside_updates);
  void attention_backward(std::size_t layer, bool beside_updates);
  /// Updates the layer's matrices during backward; `layer` = number of layers stands for the head's matrix. Requires
  /// that the current stream no longer reads their values, and that the side stream's mark follows their gradients.
  void update_beside(const UpdateHook& update, std::size_t layer);
  /// Whether update_beside() updates matrices of the layer. A tied head's gradient is complete only with the gradient
  /// of the embedding, at the end of backward.
  [[nodiscard]] bool is_updated_beside(std::size_t layer) const {
    return layer < buffers_.layers.size() || !extents_.tied;
  }
  /// Computes the gradient of the stream before the norm from the gradient of the norm's output and the gradient of the
  /// stream after it.
  /// @param dbranch  destination for the gradient of the branch that was added to the stream before the norm
  void norm_backward(const float* sum, const float* weight, const float* rstd, float* dweight, void* dbranch);
  /// Returns the layer's buffers, which layers use in turn.
  [[nodiscard]] const ScratchBuffers::OfLayer& of_layer(std::size_t layer) const {
    return buffers_.scratch.of_layer[layer % kLayersInFlight];
  }
  void add_up_norms();

  /// Applies RoPE to q and k in place.
  void rope(void* qkv, bool backward) const;
  /// Normalises q and k of the product qkv and applies RoPE; backward computes the gradients of q and k in place.
  void qk_norm_forward(const LayerBuffers& buffers, const LayerWeights& weights) const;
  void qk_norm_backward(std::size_t layer);
  [[nodiscard]] kernels::QkNormRopeConstants qk_norm_constants(const LayerWeights& weights) const;
  /// Returns the heads of q and k in a product [tokens, q_width + 2 * kv_width].
  [[nodiscard]] kernels::QkHeads q_and_k_of(void* qkv) const {
    return {.data = qkv, .stride = extents_.q_width + 2 * extents_.kv_width};
  }
  /// Returns heads `first` and following of a product [tokens, heads, head_dim].
  [[nodiscard]] kernels::TensorView heads_of(void* product, std::int64_t first, std::int64_t heads) const;
  /// Returns the parts of a product [tokens, num_heads + 2 * kv_heads, head_dim].
  [[nodiscard]] QkvViews parts_of(void* qkv) const;
  /// Returns the tensors that attention reads: q and k after RoPE, and v.
  [[nodiscard]] QkvViews attention_inputs(const LayerBuffers& buffers) const;
  [[nodiscard]] kernels::EmbeddingShape embedding_shape() const {
    return {.tokens = extents_.tokens(), .vocab_size = extents_.vocab_size, .width = extents_.d_model};
  }
  [[nodiscard]] kernels::SwigluShape swiglu_shape() const {
    return {.rows = extents_.tokens(), .width = extents_.d_ff, .precision = storage_};
  }
  template <class Pointer>
  [[nodiscard]] kernels::GatedPair<Pointer> gate_and_up(void* product) const {
    return {.gate = product,
            .up = static_cast<char*>(product) + extents_.d_ff * extents_.element_bytes,
            .stride = 2 * extents_.d_ff};
  }
  [[nodiscard]] static cudaStream_t current_stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  const ModelConfig& config_;
  Parameters& parameters_;
  at::Tensor loss_scale_;
  Precision storage_;  // kBf16, kFp16 or kFp32
  at::ScalarType dtype_;
  kernels::AttentionProblem attention_;
  std::optional<kernels::AttentionPlan> attention_forward_plan_, attention_backward_plan_;  // for every layer
  kernels::NormShape norm_;
  kernels::QkNormRopeShape qk_norm_;  // used with ModelSize::qk_norm only
  RopeTable rope_;
  std::vector<at::Tensor> copies_;
  ProductLibrary library_;
  UpdatePlan update_plan_;
  Linears linears_;
  std::optional<ChunkedHead> chunked_head_;
  at::Tensor lse_;  // a view of the block; defined if the head runs in chunks, and logits_ is not
  StepExtents extents_;
  StepBuffers buffers_;
  at::Tensor block_;
  at::Tensor logits_, losses_, loss_;  // views of the block
  std::vector<at::Tensor> gradients_;  // views of the block, one per leaf
  const std::int64_t* tokens_{};       // tokens of the latest forward pass, for backward
  SideStream side_;                    // weights' gradients, concurrent with activations' gradients
  SideStream updates_;                 // updates of weights, concurrent with both
  std::vector<kernels::NormShares> pending_norms_;
  std::vector<kernels::QkNormShares> pending_qk_norms_;
  float* stream_gradient_{};  // current gradient of the residual stream; null before backward's first norm
};

[[nodiscard]] std::unique_ptr<ModelPasses> make_fused_passes(const PassesInputs& inputs);

}  // namespace tbench::model

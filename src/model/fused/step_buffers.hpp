// The buffers of a fused step: everything that it writes except weights and optimizer state. Each has a lifetime, and
// one block of memory holds all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/fused/buffer_plan.hpp"

namespace tbench::model {

/// The number of leaves of a layer with fused_qkv and fused_gate_up: ln1, qkv, output, gate_up, w2, ln2. With qk_norm,
/// q_norm and k_norm follow.
inline constexpr std::size_t kFusedLeavesOfLayer = 6;
inline constexpr std::size_t kQkNormLeavesOfLayer = 2;
inline constexpr std::size_t kFusedMatricesOfLayer = 4;  // consecutive leaves

struct StepExtents {
  std::int64_t batch{}, context{};
  std::int64_t d_model{}, d_ff{};
  std::int64_t q_width{}, kv_width{};  // columns of q, and of k and v each: heads times head_dim
  std::int64_t num_layers{}, num_heads{}, vocab_size{};
  bool tied{};                   // whether the head's gradient is a part of the table's gradient
  bool qk_norm{};                // whether q and k pass norms, so that their values before and after are kept
  std::int64_t element_bytes{};  // bytes of an activation's element; the residual stream is float32
  bool has_backward{};           // whether buffers that backward reads are kept
  std::int64_t head_rows{};      // rows of logits in a chunk, if the head computes its gradients in chunks; otherwise 0
  std::int64_t attention_workspace_bytes{};
  std::int64_t norm_workspace_bytes{};
  std::int64_t qk_norm_workspace_bytes{};
  [[nodiscard]] std::int64_t tokens() const { return batch * context; }
  [[nodiscard]] std::size_t leaves_of_layer() const {
    return kFusedLeavesOfLayer + (qk_norm ? kQkNormLeavesOfLayer : 0);
  }
  /// Returns the bytes of the product of q, k and v.
  [[nodiscard]] std::int64_t qkv_bytes() const { return tokens() * (q_width + 2 * kv_width) * element_bytes; }
};

/// Pointers into the block; null if the pass has no such buffer. Elements have the compute type unless the pointer's
/// type says otherwise.
struct LayerBuffers {
  float* x{};          // [tokens, d_model] float32: the residual stream before the layer
  void* normed{};      // [tokens, d_model]
  float* rstd{};       // [tokens]
  void* qkv{};         // [tokens, q_width + 2 * kv_width], q and k after RoPE, or with qk_norm before their norms
  void* qk{};          // [tokens, q_width + kv_width], q and k after their norms and RoPE; null without qk_norm
  void* attended{};    // [tokens, q_width]
  float* lse{};        // [batch, num_heads, context]
  float* x_mid{};      // [tokens, d_model] float32: the stream between attention and feed-forward
  void* normed_mid{};  // [tokens, d_model]
  float* rstd_mid{};   // [tokens]
  void* gate_up{};     // [tokens, 2, d_ff]; backward overwrites them with their gradients
  void* h{};           // [tokens, d_ff], in the forward pass only
};

struct HeadBuffers {
  float* x{};       // [tokens, d_model] float32
  void* normed{};   // [tokens, d_model]
  float* rstd{};    // [tokens]
  void* logits{};   // [tokens, vocab_size], or [head_rows, vocab_size]
  void* dlogits{};  // [tokens, vocab_size]; null if the head runs in chunks, whose gradients overwrite the logits
  float* losses{};  // [tokens]
  float* lse{};     // [tokens]; null unless the head runs in chunks
  float* loss{};    // scalar
};

/// The number of norms whose weights' gradients are added up together.
inline constexpr std::size_t kPendingNorms = 16;
/// The number of layers whose norms of q and k are added up together. A layer has two other norms.
inline constexpr std::size_t kPendingQkNorms = kPendingNorms / 2;

/// The number of layers that backward has in flight: the current layer, and the layer whose weights' gradients may not
/// be finished yet.
inline constexpr std::size_t kLayersInFlight = 2;

/// Buffers that one operation writes and one of the next operations reads.
struct ScratchBuffers {
  void* branch{};     // [tokens, d_model]: a sublayer's output, which is added to the stream
  float* dx[2]{};     // [tokens, d_model] float32: the stream's gradient, in alternating buffers
  void* dnormed{};    // [tokens, d_model]
  void* dattended{};  // [tokens, q_width]
  void* dh{};         // [tokens, d_ff]
  /// Inputs of the weights' gradients, whose products may still run during the next layer's backward pass: two sets
  /// that alternate.
  struct OfLayer {
    void* dffn{};        // [tokens, d_model]: gradient of the feed-forward part's output
    void* dattention{};  // [tokens, d_model]: gradient of attention's output
    void* h{};           // [tokens, d_ff]: h, recomputed
    void* dqkv{};        // [tokens, q_width + 2 * kv_width]
  };
  OfLayer of_layer[kLayersInFlight];
  void* attention_workspace{};
  float* norm_workspaces[kPendingNorms]{};  // partial gradients of weights, not added up yet
  float* qk_norm_workspaces[kPendingQkNorms]{};
};

class StepBuffers {
 public:
  /// Plans the block without allocating it.
  /// @param gradient_bytes  bytes of each leaf's gradient, in Parameters' order with fused_qkv and fused_gate_up; read
  ///                        only if the step has a backward pass
  StepBuffers(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes);
  StepBuffers(const StepBuffers&) = delete;
  StepBuffers& operator=(const StepBuffers&) = delete;

  /// Returns the bytes of the block.
  [[nodiscard]] std::int64_t bytes() const { return plan_.bytes(); }
  /// Returns the bytes of the gradients that are live when the block has the most live bytes.
  [[nodiscard]] std::int64_t gradient_bytes_at_peak() const;
  [[nodiscard]] const BufferPlan& plan() const { return plan_; }
  /// Sets the pointers of all buffers.
  /// @param block  bytes() bytes, aligned to BufferPlan::kAlignment
  void set_block(void* block);

  std::vector<LayerBuffers> layers;
  HeadBuffers head;
  ScratchBuffers scratch;
  std::vector<void*> gradients;  // one per leaf

 private:
  template <class T>
  void add(T*& slot, std::int64_t bytes, Lifetime lifetime);
  void add_layers(const StepExtents& extents);
  void add_head(const StepExtents& extents);
  void add_chunked_head(const StepExtents& extents);
  void add_scratch(const StepExtents& extents);
  void add_gradients(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes);

  struct Slot {
    void* slot;  // a pointer to the pointer
    std::size_t number;
    std::int64_t bytes;
    bool is_gradient;
  };
  BufferPlan plan_;
  std::vector<Slot> slots_;
};

}  // namespace tbench::model

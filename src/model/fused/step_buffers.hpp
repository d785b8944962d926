// Everything that a fused step writes but for weights and optimizer state: its buffers, when each lives, and one block
// of memory for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fused/buffer_plan.hpp"

namespace tbench::model {

struct StepExtents {
  std::int64_t batch{}, context{};
  std::int64_t d_model{}, d_ff{}, num_layers{}, num_heads{}, vocab_size{};
  std::int64_t element_bytes{};  // of activations but for the residual stream, which is float32
  bool has_backward{};           // what backward reads is kept
  std::int64_t attention_workspace_bytes{};
  std::int64_t norm_workspace_bytes{};
  [[nodiscard]] std::int64_t tokens() const { return batch * context; }
};

/// Pointers into the block; null where the pass has no such buffer. [tokens, ...] of elements unless told otherwise.
struct LayerBuffers {
  float* x{};          // [tokens, d_model] float32: the residual stream before the layer
  void* normed{};      // [tokens, d_model]
  float* rstd{};       // [tokens]
  void* qkv{};         // [tokens, 3, num_heads, head_dim], q and k turned
  void* attended{};    // [tokens, d_model]
  float* lse{};        // [batch, num_heads, context]
  float* x_mid{};      // as x: between attention and feed-forward
  void* normed_mid{};  // [tokens, d_model]
  float* rstd_mid{};   // [tokens]
  void* gate_up{};     // [tokens, 2, d_ff]; their gradients in backward
  void* h{};           // [tokens, d_ff], of the forward pass alone
};

struct HeadBuffers {
  float* x{};       // [tokens, d_model] float32
  void* normed{};   // [tokens, d_model]
  float* rstd{};    // [tokens]
  void* logits{};   // [tokens, vocab_size]
  void* dlogits{};  // the same
  float* losses{};  // [tokens]
  float* loss{};    // scalar
};

/// Norms whose weights' gradients are added up together.
inline constexpr std::size_t kPendingNorms = 16;

/// Layers that backward has in flight: the one that is worked on and the one whose weights' gradients may not be done
/// yet.
inline constexpr std::size_t kLayersInFlight = 2;

/// Written and read between two neighbouring operations.
struct ScratchBuffers {
  void* branch{};     // [tokens, d_model]: what a sublayer adds to the stream
  float* dx[2]{};     // [tokens, d_model] float32: the stream's gradient, by turns
  void* dnormed{};    // [tokens, d_model]
  void* dattended{};  // [tokens, d_model]
  void* dh{};         // [tokens, d_ff]
  /// Inputs of the weights' gradients, whose products may still run in the layer after: two sets that alternate.
  struct OfLayer {
    void* dffn{};        // [tokens, d_model]: of what the feed-forward part added to the stream
    void* dattention{};  // [tokens, d_model]: of what attention added
    void* h{};           // [tokens, d_ff]: once more
    void* dqkv{};        // as qkv
  };
  OfLayer of_layer[kLayersInFlight];
  void* attention_workspace{};
  float* norm_workspaces[kPendingNorms]{};  // with the shares of weights' gradients that are not added up yet
};

class StepBuffers {
 public:
  /// Plans; allocates nothing.
  /// @param gradient_bytes  of every leaf, in Parameters' order with fused_qkv and fused_gate_up; read for a backward
  StepBuffers(const StepExtents& extents, const std::vector<std::int64_t>& gradient_bytes);
  StepBuffers(const StepBuffers&) = delete;
  StepBuffers& operator=(const StepBuffers&) = delete;

  /// Bytes of the block.
  [[nodiscard]] std::int64_t bytes() const { return plan_.bytes(); }
  /// Bytes of the gradients that live when the block has the most live bytes.
  [[nodiscard]] std::int64_t gradient_bytes_at_peak() const;
  [[nodiscard]] const BufferPlan& plan() const { return plan_; }
  /// Gives every buffer its place.
  /// @param block  bytes() bytes, aligned to BufferPlan::kAlignment
  void set_block(void* block);

  std::vector<LayerBuffers> layers;
  HeadBuffers head;
  ScratchBuffers scratch;
  std::vector<void*> gradients;  // of every leaf

 private:
  template <class T>
  void add(T*& slot, std::int64_t bytes, Lifetime lifetime);
  void add_layers(const StepExtents& extents);
  void add_head(const StepExtents& extents);
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

/// Leaves of a layer with fused_qkv and fused_gate_up: ln1, qkv, output, gate_up, w2, ln2.
inline constexpr std::size_t kFusedLeavesOfLayer = 6;
inline constexpr std::size_t kFusedMatricesOfLayer = 4;  // one after the other

}  // namespace tbench::model

// The transformer's weights by the role they play, as the layers take them; and its parameters' names, storage,
// gradients and seeded initialisation. Names come from the course's state dict, and are the same whatever the storage:
// an implementation may keep q, k and v of a layer in one tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/model_size.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::model {

/// Either q, k, v or qkv (their rows one after the other) is defined.
struct AttentionWeights {
  at::Tensor q, k, v;  // [d_model, d_model] each
  at::Tensor qkv;      // [3 * d_model, d_model]
  at::Tensor output;   // [d_model, d_model]
};

/// Either w1, w3 or gate_up (their rows one after the other) is defined.
struct FeedForwardWeights {
  at::Tensor w1;         // [d_ff, d_model]
  at::Tensor w2;         // [d_model, d_ff]
  at::Tensor w3;         // [d_ff, d_model]
  at::Tensor gate_up{};  // [2 * d_ff, d_model]
};

struct BlockWeights {
  std::string name;  // layer.N
  at::Tensor ln1;    // [d_model]
  AttentionWeights attention;
  at::Tensor ln2;  // [d_model]
  FeedForwardWeights feed_forward;
};

struct ModelWeights {
  at::Tensor token_embeddings;  // [vocab_size, d_model]
  std::vector<BlockWeights> blocks;
  at::Tensor ln_final;  // [d_model]
  at::Tensor lm_head;   // [vocab_size, d_model]
};

/// Parameters of one block, in the order ln1, q, k, v, output, w1, w2, w3, ln2.
inline constexpr std::size_t kBlockParameters = 9;

/// @param tensors  the block's parameters in the order of kBlockParameters
[[nodiscard]] BlockWeights block_weights(std::span<const at::Tensor, kBlockParameters> tensors);

/// Which parameters of a layer share a leaf, so that one matrix product has them all.
struct ParameterLayout {
  bool fused_qkv{};      // q, k and v
  bool fused_gate_up{};  // w1 and w3
  /// Above 0: all leaves lie in one storage, which splits evenly in so many shares, one per rank.
  std::int64_t shares{};
  /// Bytes of gradients that the ranks exchange at once: the optimizer updates a share in tensors of its part of so
  /// many bytes.
  std::int64_t scatter_bytes{kScatterBytes};
};

struct NamedParameter {
  std::string name;
  at::Tensor value;          // shares the leaf's storage, no autograd
  std::size_t leaf{};        // index into leaves()
  std::int64_t first_row{};  // of the leaf
};

/// The rows of a leaf's tensor, its gradient or a moment, that belong to the parameter.
[[nodiscard]] at::Tensor part_of(const NamedParameter& parameter, const at::Tensor& of_leaf);

class Parameters {
 public:
  /// Allocates the parameters, uninitialised.
  Parameters(const ModelSize& size, std::int64_t vocab_size, const ParameterLayout& layout,
             const at::TensorOptions& options);

  /// Fills all with `initial_value`. Does not synchronise.
  void initialise(std::uint64_t seed);
  /// The value that parameter `index` starts with: projections and LM head from a normal distribution of standard
  /// deviation sqrt(2 / (inputs + outputs)), embeddings of 1, both truncated at three of them; norms are ones. Depends
  /// on `seed` and `index` alone.
  [[nodiscard]] at::Tensor initial_value(std::size_t index, std::uint64_t seed) const;
  /// The initial values of `count` parameters from `first` on: fewer operations than one by one.
  [[nodiscard]] std::vector<at::Tensor> initial_values(std::size_t first, std::size_t count, std::uint64_t seed) const;

  /// Embedding; then of each layer ln1, q, k, v, output, w1, w2, w3, ln2; ln_final; lm_head.
  [[nodiscard]] const std::vector<NamedParameter>& named() const { return named_; }
  /// The tensors that autograd differentiates by and the optimizer updates.
  [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return leaves_; }
  [[nodiscard]] const ModelWeights& weights() const { return weights_; }
  /// All leaves and the zeros between them, [elements]; undefined where the layout has no shares.
  [[nodiscard]] const at::Tensor& whole() const { return whole_; }
  /// The part of `whole`, which is laid out as whole(), that belongs to a leaf, in that one's shape.
  [[nodiscard]] at::Tensor leaf_of(const at::Tensor& whole, std::size_t leaf) const;
  /// Gradient of parameter `index`; undefined if it has none.
  [[nodiscard]] at::Tensor gradient(std::size_t index) const;
  void clear_gradients();
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] std::int64_t bytes() const;

 private:
  enum class Kind { kEmbedding, kLinear, kNorm };
  /// Writes the initial values of the parameters from `first` on.
  void fill(std::size_t first, const std::vector<at::Tensor>& values, std::uint64_t seed) const;
  void allocate_whole(const ModelSize& size, std::int64_t vocab_size, ParameterLayout layout,
                      const at::TensorOptions& options);
  [[nodiscard]] std::size_t add_leaf(std::vector<std::int64_t> shape, const at::TensorOptions& options);
  void add(std::string name, Kind kind, std::vector<std::int64_t> shape, const at::TensorOptions& options);
  void add_part(std::string name, std::size_t leaf, std::int64_t first_row, std::int64_t rows);
  void add_qkv(const std::string& prefix, std::int64_t d_model, bool fused, const at::TensorOptions& options);
  void add_feed_forward(const std::string& prefix, const ModelSize& size, bool fused, const at::TensorOptions& options);
  void assemble(std::int64_t num_layers, const ParameterLayout& layout);

  std::vector<NamedParameter> named_;
  std::vector<Kind> kinds_;  // of named_
  std::vector<at::Tensor> leaves_;
  at::Tensor whole_;
  std::vector<std::int64_t> begins_;  // of the leaves in whole_
  ModelWeights weights_;
};

}  // namespace tbench::model

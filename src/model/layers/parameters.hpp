// The transformer's weights by role, as the layers take them, and its parameters' names, storage, gradients and seeded
// initialisation. Names come from the course's state dict and do not depend on the storage: an implementation may keep
// q, k and v of a layer in one tensor.
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

/// Weights of an attention layer. Either q, k and v are defined, or qkv, which has their rows one after the other.
struct AttentionWeights {
  at::Tensor q{}, k{}, v{};       // [q_width, d_model], and [kv_width, d_model] twice
  at::Tensor qkv{};               // [q_width + 2 * kv_width, d_model]
  at::Tensor output{};            // [d_model, q_width]
  at::Tensor q_norm{}, k_norm{};  // [head_dim] each, only with ModelSize::qk_norm
};

/// Weights of a feed-forward layer. Either w1 and w3 are defined, or gate_up, which has their rows one after the other.
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
  at::Tensor lm_head;   // [vocab_size, d_model]; the embeddings themselves if the size is tied
};

/// The order of a block's parameters. The last two exist only with ModelSize::qk_norm.
enum class BlockParameter : std::uint8_t { kLn1, kQ, kK, kV, kOutput, kW1, kW2, kW3, kLn2, kQNorm, kKNorm };

/// Returns the number of parameters of one block.
[[nodiscard]] std::size_t block_parameters(const ModelSize& size);

/// Returns a block's weights from its parameters.
/// @param tensors  the block's parameters, in the order of BlockParameter, with or without the last two
[[nodiscard]] BlockWeights block_weights(std::span<const at::Tensor> tensors);

/// Standard deviation of the initial values of tied embeddings, as in the published Llama and Qwen models
/// (`initializer_range`). With 1, as for other embeddings, logits would be about sqrt(d_model).
inline constexpr double kTiedDeviation = 0.02;

/// Standard deviation of the initial weights of the norms of q and k around 1. With ones for both, no step would show
/// that it takes the weight of one norm for the other.
inline constexpr double kHeadNormDeviation = 0.1;

/// How parameters are stored. Parameters of a layer that share a leaf are multiplied by one matrix product.
struct ParameterLayout {
  bool fused_qkv{};      // whether q, k and v share a leaf
  bool fused_gate_up{};  // whether w1 and w3 share a leaf
  /// If above 0, all leaves lie in one storage that is divided evenly into this many shares, one per rank.
  std::int64_t shares{};
  /// Bytes of gradients that the ranks exchange at once. The optimizer updates a share in tensors, each of which is the
  /// share's part of one exchange.
  std::int64_t scatter_bytes{kScatterBytes};
};

struct NamedParameter {
  std::string name;
  at::Tensor value;          // shares the leaf's storage; without autograd
  std::size_t leaf{};        // index into leaves()
  std::int64_t first_row{};  // the parameter's first row in the leaf
};

/// Returns the parameter's rows of a tensor of its leaf's shape, such as the leaf's gradient or a moment.
[[nodiscard]] at::Tensor part_of(const NamedParameter& parameter, const at::Tensor& of_leaf);

class Parameters {
 public:
  /// Allocates the parameters, uninitialised.
  Parameters(const ModelSize& size, const ParameterLayout& layout, const at::TensorOptions& options);

  /// Fills each parameter with its initial_value(). Does not synchronise.
  void initialise(std::uint64_t seed);
  /// Returns the initial value of parameter `index`, which depends on `seed` and `index` alone. Norms are ones. Others
  /// come from a normal distribution truncated at three standard deviations: sqrt(2 / (inputs + outputs)) for
  /// projections and LM head, 1 for embeddings, kTiedDeviation for tied ones, and kHeadNormDeviation around 1 for norms
  /// of q and k.
  [[nodiscard]] at::Tensor initial_value(std::size_t index, std::uint64_t seed) const;
  /// Returns the initial values of `count` parameters from `first` on, in fewer operations than by initial_value().
  [[nodiscard]] std::vector<at::Tensor> initial_values(std::size_t first, std::size_t count, std::uint64_t seed) const;

  /// The parameters in this order: the embedding, the parameters of layer after layer, each in the order of
  /// BlockParameter, ln_final, and lm_head unless it is tied to the embedding.
  [[nodiscard]] const std::vector<NamedParameter>& named() const { return named_; }
  /// The tensors with respect to which autograd differentiates, and which the optimizer updates.
  [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return leaves_; }
  [[nodiscard]] const ModelWeights& weights() const { return weights_; }
  /// All leaves and the zeros between them, [elements]; undefined if the layout has no shares.
  [[nodiscard]] const at::Tensor& whole() const { return whole_; }
  /// Returns a leaf's part of `whole`, a tensor with the layout of whole(), in the leaf's shape.
  [[nodiscard]] at::Tensor leaf_of(const at::Tensor& whole, std::size_t leaf) const;
  /// Returns the gradient of parameter `index`; undefined if it has none.
  [[nodiscard]] at::Tensor gradient(std::size_t index) const;
  void clear_gradients();
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] std::int64_t bytes() const;

 private:
  enum class Kind { kEmbedding, kTied, kLinear, kNorm, kHeadNorm };
  /// Returns the standard deviation of a matrix's initial values.
  [[nodiscard]] static double deviation_of(Kind kind, const at::Tensor& matrix);
  /// Writes the initial values of the parameters from `first` on.
  void fill(std::size_t first, const std::vector<at::Tensor>& values, std::uint64_t seed) const;
  void allocate_whole(const ModelSize& size, ParameterLayout layout, const at::TensorOptions& options);
  [[nodiscard]] std::size_t add_leaf(std::vector<std::int64_t> shape, const at::TensorOptions& options);
  void add(std::string name, Kind kind, std::vector<std::int64_t> shape, const at::TensorOptions& options);
  void add_part(std::string name, std::size_t leaf, std::int64_t first_row, std::int64_t rows);
  void add_qkv(const std::string& prefix, const ModelSize& size, bool fused, const at::TensorOptions& options);
  void add_feed_forward(const std::string& prefix, const ModelSize& size, bool fused, const at::TensorOptions& options);
  void assemble(const ModelSize& size, const ParameterLayout& layout);

  std::vector<NamedParameter> named_;
  std::vector<Kind> kinds_;  // kinds of the parameters in named_
  std::vector<at::Tensor> leaves_;
  at::Tensor whole_;
  std::vector<std::int64_t> begins_;  // first elements of the leaves in whole_
  ModelWeights weights_;
};

}  // namespace tbench::model

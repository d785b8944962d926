// The transformer's sizes. A new size is one line in model_size.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

inline constexpr std::int64_t kVocabSize = 10'000;
inline constexpr double kRopeTheta = 10'000.0;

/// The grids that have a size. The user's sizes are on the course grids.
enum class SizeGroup {
  kTest,        // the smoke suite and tests
  kCourse,      // the course grids of suites and studies
  kCourse2026,  // only the study `writeup_2026`
  kPublished,   // long contexts of the suite `full`
};

/// Extents of one transformer, and the forms of its layers.
struct ModelSize {
  std::string name;
  std::int64_t d_model{};
  std::int64_t d_ff{};
  std::int64_t num_layers{};
  std::int64_t num_heads{};
  std::int64_t own_kv_heads{};  // key and value heads; 0 for num_heads
  std::int64_t own_head_dim{};  // 0 for d_model / num_heads
  std::int64_t vocab_size{kVocabSize};
  double rope_theta{kRopeTheta};
  bool tied{};     // whether the LM head is the table of embeddings
  bool qk_norm{};  // whether each head's q and k pass an RMSNorm before RoPE
  SizeGroup group{SizeGroup::kCourse};

  [[nodiscard]] std::int64_t kv_heads() const { return own_kv_heads > 0 ? own_kv_heads : num_heads; }
  [[nodiscard]] std::int64_t head_dim() const { return own_head_dim > 0 ? own_head_dim : d_model / num_heads; }
  [[nodiscard]] std::int64_t q_width() const { return num_heads * head_dim(); }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads() * head_dim(); }
  /// Whether the layers have the course's shapes: q, k, v and output are d_model x d_model, the embeddings are not
  /// tied, and q and k are not normalised. The vocabulary and RoPE's theta may be others.
  [[nodiscard]] bool has_plain_layers() const {
    return kv_heads() == num_heads && q_width() == d_model && !tied && !qk_norm;
  }
  bool operator==(const ModelSize&) const = default;
};

/// Returns the built-in sizes: `tiny` (for tests and CPUs), the course's `small` to `2.7B`, `10B` of its edition of
/// 2026, and published sizes: `llama3.2-1B` to `qwen3-8B`, and `cs336-leaderboard`.
[[nodiscard]] std::span<const ModelSize> builtin_model_sizes();
/// Returns the built-in sizes of a group, in the order of builtin_model_sizes().
[[nodiscard]] std::vector<ModelSize> model_sizes_of(SizeGroup group);
/// Returns the sizes of SizeGroup::kCourse.
[[nodiscard]] std::span<const ModelSize> course_model_sizes();
[[nodiscard]] std::vector<std::string> course_size_names();

/// Returns the elements of a layer's matrices: d_model x q_width and q_width x d_model (q, output), two d_model x
/// kv_width (k, v), three d_model x d_ff.
[[nodiscard]] std::int64_t layer_matrix_elements(const ModelSize& size);

/// Returns the model's number of parameters. These are the embedding's vocab_size x d_model matrix, another such matrix
/// for the LM head unless the two are tied, each layer's matrices and two norms, and one norm at the end. With qk_norm,
/// a layer has two more norms, of head_dim. There are no biases.
[[nodiscard]] std::int64_t parameter_count(const ModelSize& size);

/// Parses `NAME:d_model,d_ff,num_layers,num_heads[,key=value]...[,flag]...` with the keys kv_heads, head_dim, vocab and
/// theta and the flags tied and qk_norm.
/// @throws  UsageError  naming the text and the error: a missing or non-positive extent; an unknown or repeated key;
///                      kv_heads that do not divide num_heads; without head_dim, a d_model that is not a multiple of
///                      num_heads. An odd head_dim (RoPE rotates pairs), the name of a built-in size and a name that
///                      would break a case name are refused, too
[[nodiscard]] ModelSize parse_model_size(std::string_view text);

/// Returns the text after the name that parse_model_size() reads: `2048,8192,24,16,kv_heads=4`. Values at their
/// defaults are left out.
[[nodiscard]] std::string extents_text(const ModelSize& size);

}  // namespace tbench

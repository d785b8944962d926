// The transformer's sizes. A new size is one line in model_size.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// Extents of one transformer: head_dim is d_model / num_heads.
struct ModelSize {
  std::string name;
  std::int64_t d_model{};
  std::int64_t d_ff{};
  std::int64_t num_layers{};
  std::int64_t num_heads{};

  [[nodiscard]] std::int64_t head_dim() const { return d_model / num_heads; }
  bool operator==(const ModelSize&) const = default;
};

inline constexpr std::int64_t kVocabSize = 10'000;

/// Returns the built-in sizes: `tiny` (for tests and CPUs), `small` to `2.7B`, and `10B`, which `writeup_2026` has.
[[nodiscard]] std::span<const ModelSize> builtin_model_sizes();
/// Returns the sizes that suites and studies use: every built-in size except `tiny` and `10B`.
[[nodiscard]] std::span<const ModelSize> course_model_sizes();
[[nodiscard]] std::vector<std::string> course_size_names();

/// Returns the model's number of parameters: two vocab_size x d_model matrices (embedding, LM head), and per layer four
/// d_model x d_model projections, three d_model x d_ff matrices and two norms; one norm at the end. No biases.
[[nodiscard]] std::int64_t parameter_count(const ModelSize& size, std::int64_t vocab_size = kVocabSize);

/// Parses `NAME:d_model,d_ff,num_layers,num_heads`.
/// @throws  UsageError  naming the text and the error: a missing or non-positive extent, d_model not a multiple of
///                      num_heads, an odd head_dim (RoPE rotates pairs), the name of a built-in size, or a name that
///                      would break a case name
[[nodiscard]] ModelSize parse_model_size(std::string_view text);

}  // namespace tbench

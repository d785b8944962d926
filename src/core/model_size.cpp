#include "tbench/core/model_size.hpp"

#include <utility>

namespace tbench {
namespace {

constexpr std::int64_t kGroupedKvHeads = 8;
constexpr std::int64_t kQwen3Vocab = 151'936;

ModelSize in_group(ModelSize size, SizeGroup group) {
  size.group = group;
  return size;
}

/// Returns a size of Llama 3 (config.json of meta-llama/Llama-3.1-8B, Llama-3.2-1B and -3B).
ModelSize llama3(ModelSize size, bool tied) {
  size.own_kv_heads = kGroupedKvHeads;
  size.vocab_size = 128'256;
  size.rope_theta = 5e5;
  size.tied = tied;
  return in_group(std::move(size), SizeGroup::kPublished);
}

/// Returns a size of Qwen3 (config.json of Qwen/Qwen3-0.6B, -1.7B, -4B and -8B), whose heads all have 128 columns.
ModelSize qwen3(ModelSize size, bool tied) {
  constexpr std::int64_t kHeadDim = 128;
  size.own_kv_heads = kGroupedKvHeads;
  if (size.head_dim() != kHeadDim) size.own_head_dim = kHeadDim;
  size.vocab_size = kQwen3Vocab;
  size.rope_theta = 1e6;
  size.tied = tied;
  size.qk_norm = true;
  return in_group(std::move(size), SizeGroup::kPublished);
}

/// Returns the leaderboard's size (CS336 of 2026, assignment 2, section 9).
ModelSize leaderboard(ModelSize size) {
  size.vocab_size = kQwen3Vocab;
  return in_group(std::move(size), SizeGroup::kPublished);
}

const std::vector<ModelSize>& table() {
  constexpr bool kTied = true;
  // name, d_model, d_ff, num_layers, num_heads
  static const std::vector<ModelSize> sizes{
      in_group({"tiny", 64, 256, 2, 4}, SizeGroup::kTest),
      {"small", 768, 3072, 12, 12},    //
      {"medium", 1024, 4096, 24, 16},  //
      {"large", 1280, 5120, 36, 20},   //
      {"xl", 1600, 6400, 48, 25},      //
      {"2.7B", 2560, 10240, 32, 32},   //
      in_group({"10B", 4608, 12288, 50, 36}, SizeGroup::kCourse2026),
      llama3({"llama3.2-1B", 2048, 8192, 16, 32}, kTied),
      llama3({"llama3.2-3B", 3072, 8192, 28, 24}, kTied),
      llama3({"llama3.1-8B", 4096, 14336, 32, 32}, !kTied),
      qwen3({"qwen3-0.6B", 1024, 3072, 28, 16}, kTied),
      qwen3({"qwen3-1.7B", 2048, 6144, 28, 16}, kTied),
      qwen3({"qwen3-4B", 2560, 9728, 36, 32}, kTied),
      qwen3({"qwen3-8B", 4096, 12288, 36, 32}, !kTied),
      leaderboard({"cs336-leaderboard", 4096, 11008, 34, 32}),
  };
  return sizes;
}

}  // namespace

std::span<const ModelSize> builtin_model_sizes() { return table(); }

std::vector<ModelSize> model_sizes_of(SizeGroup group) {
  std::vector<ModelSize> sizes = table();
  std::erase_if(sizes, [&](const ModelSize& size) { return size.group != group; });
  return sizes;
}

std::span<const ModelSize> course_model_sizes() {
  static const std::vector<ModelSize> sizes = model_sizes_of(SizeGroup::kCourse);
  return sizes;
}

std::vector<std::string> course_size_names() {
  std::vector<std::string> names;
  for (const ModelSize& size : course_model_sizes()) names.push_back(size.name);
  return names;
}

std::int64_t layer_matrix_elements(const ModelSize& size) {
  return 2 * size.d_model * (size.q_width() + size.kv_width()) + 3 * size.d_model * size.d_ff;
}

std::int64_t parameter_count(const ModelSize& size) {
  const std::int64_t norms = 2 * size.d_model + (size.qk_norm ? 2 * size.head_dim() : 0);
  const std::int64_t tables = size.tied ? 1 : 2;
  return tables * size.vocab_size * size.d_model + size.num_layers * (layer_matrix_elements(size) + norms) +
         size.d_model;
}

}  // namespace tbench

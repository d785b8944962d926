#include "tbench/core/model_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench {
namespace {

const std::vector<ModelSize>& table() {
  // name, d_model, d_ff, num_layers, num_heads; the course does not have the first size, and its edition of 2026 alone
  // has the last
  static const std::vector<ModelSize> sizes{
      {"tiny", 64, 256, 2, 4},         //
      {"small", 768, 3072, 12, 12},    //
      {"medium", 1024, 4096, 24, 16},  //
      {"large", 1280, 5120, 36, 20},   //
      {"xl", 1600, 6400, 48, 25},      //
      {"2.7B", 2560, 10240, 32, 32},   //
      {"10B", 4608, 12288, 50, 36},    //
  };
  return sizes;
}

}  // namespace

std::span<const ModelSize> builtin_model_sizes() { return table(); }

std::span<const ModelSize> course_model_sizes() {
  static const std::vector<ModelSize> sizes = [] {
    std::vector<ModelSize> all = table();
    std::erase_if(all, [](const ModelSize& size) { return size.name == "tiny" || size.name == "10B"; });
    return all;
  }();
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

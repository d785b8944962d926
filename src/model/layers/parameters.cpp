#include "model/layers/parameters.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_clamp_max.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

namespace tbench::model {
namespace {

constexpr std::array<std::string_view, 3> kQkvNames{"attn.q_proj.weight", "attn.k_proj.weight", "attn.v_proj.weight"};
constexpr double kTruncation = 3.0;  // standard deviations
// Weyl increment (2^64 / golden ratio): gives neighbouring parameters seeds that are far apart.
constexpr std::uint64_t kSeedStep = 0x9E3779B97F4A7C15ULL;

// Leaves in one storage begin at multiples of this number of elements: 256 bytes of float32, like the allocator's
// blocks, so that kernels can use vector loads.
constexpr std::int64_t kLeafMultiple = 64;

std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Fills tensors by inverse transform sampling: uniform values of the distribution function inside the truncation, then
/// its inverse. Scaling and clamping are multi-tensor operations.
void fill_truncated_normal(const std::vector<at::Tensor>& tensors, const std::vector<double>& standard_deviations,
                           const std::vector<std::uint64_t>& seeds) {
  if (tensors.empty()) return;
  // A clone of the device's default generator has the same kind, but its own state.
  at::Generator generator = at::globalContext().defaultGenerator(tensors.front().device()).clone();
  const double edge = std::erf(kTruncation / std::numbers::sqrt2);
  std::vector<at::Scalar> factors, least, most;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    generator.set_current_seed(seeds[i]);
    tensors[i].uniform_(-edge, edge, generator);
    tensors[i].erfinv_();
    factors.emplace_back(standard_deviations[i] * std::numbers::sqrt2);
    least.emplace_back(-kTruncation * standard_deviations[i]);
    most.emplace_back(kTruncation * standard_deviations[i]);
  }
  at::_foreach_mul_(tensors, factors);
  at::_foreach_clamp_min_(tensors, least);
  at::_foreach_clamp_max_(tensors, most);
}

}  // namespace

std::size_t block_parameters(const ModelSize& size) {
  return static_cast<std::size_t>(size.qk_norm ? BlockParameter::kKNorm : BlockParameter::kLn2) + 1;
}

BlockWeights block_weights(std::span<const at::Tensor> tensors) {
  using enum BlockParameter;
  const auto of = [&](BlockParameter parameter) {
    const auto index = static_cast<std::size_t>(parameter);
    return index < tensors.size() ? tensors[index] : at::Tensor{};
  };
  return {.name = {},
          .ln1 = of(kLn1),
          .attention = {.q = of(kQ),
                        .k = of(kK),
                        .v = of(kV),
                        .qkv = {},
                        .output = of(kOutput),
                        .q_norm = of(kQNorm),
                        .k_norm = of(kKNorm)},
          .ln2 = of(kLn2),
          .feed_forward = {.w1 = of(kW1), .w2 = of(kW2), .w3 = of(kW3), .gate_up = {}}};
}

Parameters::Parameters(const ModelSize& size, const ParameterLayout& layout, const at::TensorOptions& options) {
  if (layout.shares > 0) allocate_whole(size, layout, options);
  const std::int64_t d_model = size.d_model;
  add("token_embeddings.weight", size.tied ? Kind::kTied : Kind::kEmbedding, {size.vocab_size, d_model}, options);
  for (std::int64_t layer = 0; layer < size.num_layers; ++layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    add(prefix + "ln1.weight", Kind::kNorm, {d_model}, options);
    add_qkv(prefix, size, layout.fused_qkv, options);
    add(prefix + "attn.output_proj.weight", Kind::kLinear, {d_model, size.q_width()}, options);
    add_feed_forward(prefix, size, layout.fused_gate_up, options);
    add(prefix + "ln2.weight", Kind::kNorm, {d_model}, options);
    if (!size.qk_norm) continue;
    add(prefix + "attn.q_norm.weight", Kind::kHeadNorm, {size.head_dim()}, options);
    add(prefix + "attn.k_norm.weight", Kind::kHeadNorm, {size.head_dim()}, options);
  }
  add("ln_final.weight", Kind::kNorm, {d_model}, options);
  if (!size.tied) add("lm_head.weight", Kind::kLinear, {size.vocab_size, d_model}, options);
  for (auto& leaf : leaves_) leaf.requires_grad_(true);
  assemble(size, layout);
}

/// Allocates the storage of all leaves. Elements between leaves are zero, since an optimizer reads and writes them,
/// too.
void Parameters::allocate_whole(const ModelSize& size, ParameterLayout layout, const at::TensorOptions& options) {
  const std::int64_t shares = std::exchange(layout.shares, 0);
  const Parameters shapes{size, layout, options.device(at::kMeta)};
  std::int64_t end = 0;
  for (const at::Tensor& leaf : shapes.leaves()) {
    begins_.push_back(end);
    end += rounded_up(leaf.numel(), kLeafMultiple);
  }
  whole_ = at::zeros({rounded_up(end, shares * kLeafMultiple)}, options);
}

std::size_t Parameters::add_leaf(std::vector<std::int64_t> shape, const at::TensorOptions& options) {
  if (whole_.defined()) {
    const std::int64_t count = c10::multiply_integers(shape);
    leaves_.push_back(whole_.narrow(0, begins_.at(leaves_.size()), count).view(shape).detach());
  } else {
    leaves_.push_back(at::empty(shape, options));
  }
  return leaves_.size() - 1;
}

at::Tensor Parameters::leaf_of(const at::Tensor& whole, std::size_t leaf) const {
  const at::Tensor& shape = leaves_.at(leaf);
  return whole.narrow(0, begins_.at(leaf), shape.numel()).view(shape.sizes());
}

void Parameters::add(std::string name, Kind kind, std::vector<std::int64_t> shape, const at::TensorOptions& options) {
  const std::size_t leaf = add_leaf(std::move(shape), options);
  named_.push_back({std::move(name), leaves_[leaf].detach(), leaf, 0});
  kinds_.push_back(kind);
}

void Parameters::add_part(std::string name, std::size_t leaf, std::int64_t first_row, std::int64_t rows) {
  named_.push_back({std::move(name), leaves_[leaf].detach().narrow(0, first_row, rows), leaf, first_row});
  kinds_.push_back(Kind::kLinear);
}

void Parameters::add_qkv(const std::string& prefix, const ModelSize& size, bool fused,
                         const at::TensorOptions& options) {
  const std::array<std::int64_t, kQkvNames.size()> rows{size.q_width(), size.kv_width(), size.kv_width()};
  if (!fused) {
    for (std::size_t part = 0; part < rows.size(); ++part) {
      add(fmt::format("{}{}", prefix, kQkvNames.at(part)), Kind::kLinear, {rows.at(part), size.d_model}, options);
    }
    return;
  }
  const std::size_t leaf = add_leaf({size.q_width() + 2 * size.kv_width(), size.d_model}, options);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < rows.size(); ++part) {
    add_part(fmt::format("{}{}", prefix, kQkvNames.at(part)), leaf, first, rows.at(part));
    first += rows.at(part);
  }
}

void Parameters::add_feed_forward(const std::string& prefix, const ModelSize& size, bool fused,
                                  const at::TensorOptions& options) {
  if (!fused) {
    add(prefix + "ffn.w1.weight", Kind::kLinear, {size.d_ff, size.d_model}, options);
    add(prefix + "ffn.w2.weight", Kind::kLinear, {size.d_model, size.d_ff}, options);
    add(prefix + "ffn.w3.weight", Kind::kLinear, {size.d_ff, size.d_model}, options);
    return;
  }
  const std::size_t gate_up = add_leaf({2 * size.d_ff, size.d_model}, options);
  add_part(prefix + "ffn.w1.weight", gate_up, 0, size.d_ff);
  add(prefix + "ffn.w2.weight", Kind::kLinear, {size.d_model, size.d_ff}, options);
  add_part(prefix + "ffn.w3.weight", gate_up, size.d_ff, size.d_ff);
}

void Parameters::assemble(const ModelSize& size, const ParameterLayout& layout) {
  weights_.token_embeddings = leaves_.front();
  std::vector<at::Tensor> tensors(block_parameters(size));
  for (std::int64_t layer = 0; layer < size.num_layers; ++layer) {
    const std::size_t first = 1 + tensors.size() * static_cast<std::size_t>(layer);
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i] = leaves_[named_[first + i].leaf];
    BlockWeights block = block_weights(tensors);
    block.name = fmt::format("layer.{}", layer);
    if (layout.fused_qkv) {
      auto& attention = block.attention;
      attention.qkv = std::exchange(attention.q, at::Tensor{});
      attention.k = attention.v = at::Tensor{};
    }
    if (layout.fused_gate_up) {
      auto& feed_forward = block.feed_forward;
      feed_forward.gate_up = std::exchange(feed_forward.w1, at::Tensor{});
      feed_forward.w3 = at::Tensor{};
    }
    weights_.blocks.push_back(std::move(block));
  }
  weights_.ln_final = leaves_[leaves_.size() - (size.tied ? 1 : 2)];
  weights_.lm_head = size.tied ? leaves_.front() : leaves_.back();
}

double Parameters::deviation_of(Kind kind, const at::Tensor& matrix) {
  if (kind == Kind::kEmbedding) return 1.0;
  if (kind == Kind::kTied) return kTiedDeviation;
  if (kind == Kind::kHeadNorm) return kHeadNormDeviation;
  return std::sqrt(2.0 / static_cast<double>(matrix.size(0) + matrix.size(1)));
}

void Parameters::fill(std::size_t first, const std::vector<at::Tensor>& values, std::uint64_t seed) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> matrices;  // and norms of q and k
  std::vector<double> standard_deviations;
  std::vector<std::uint64_t> seeds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t index = first + i;
    if (kinds_[index] == Kind::kNorm) {
      values[i].fill_(1.0);
      continue;
    }
    matrices.push_back(values[i]);
    standard_deviations.push_back(deviation_of(kinds_[index], values[i]));
    seeds.push_back(seed + kSeedStep * (index + 1));
  }
  fill_truncated_normal(matrices, standard_deviations, seeds);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kinds_[first + i] == Kind::kHeadNorm) values[i].add_(1.0);
  }
}

std::vector<at::Tensor> Parameters::initial_values(std::size_t first, std::size_t count, std::uint64_t seed) const {
  std::vector<at::Tensor> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(at::empty_like(named_[first + i].value));
  fill(first, values, seed);
  return values;
}

at::Tensor Parameters::initial_value(std::size_t index, std::uint64_t seed) const {
  return initial_values(index, 1, seed).front();
}

void Parameters::initialise(std::uint64_t seed) {
  std::vector<at::Tensor> values;
  for (const NamedParameter& parameter : named_) values.push_back(parameter.value);
  fill(0, values, seed);
}

at::Tensor part_of(const NamedParameter& parameter, const at::Tensor& of_leaf) {
  return of_leaf.narrow(0, parameter.first_row, parameter.value.size(0));
}

at::Tensor Parameters::gradient(std::size_t index) const {
  const NamedParameter& parameter = named_[index];
  const at::Tensor& gradient = leaves_[parameter.leaf].grad();
  if (!gradient.defined()) return {};
  return part_of(parameter, gradient);
}

void Parameters::clear_gradients() {
  for (auto& leaf : leaves_) leaf.mutable_grad().reset();
}

std::int64_t Parameters::count() const {
  std::int64_t count = 0;
  for (const auto& leaf : leaves_) count += leaf.numel();
  return count;
}

std::int64_t Parameters::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& leaf : leaves_) bytes += static_cast<std::int64_t>(leaf.nbytes());
  return bytes;
}

}  // namespace tbench::model

#include "model/layers/layers.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>

namespace tbench::model {
namespace {

/// Returns the rotation angles, [context, head_dim / 2] float64, on the CPU.
at::Tensor rope_angles(std::int64_t context, std::int64_t head_dim, double theta) {
  const auto options = at::TensorOptions{}.dtype(at::kDouble);
  const at::Tensor exponents = at::arange(0, head_dim, 2, options).div(static_cast<double>(head_dim));
  return at::outer(at::arange(context, options), at::pow(theta, exponents.neg()));
}

}  // namespace

RopeTable make_rope_table(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options, double theta) {
  const at::Tensor angles = rope_angles(context, head_dim, theta);
  return {.cos = at::cos(angles).to(options), .sin = at::sin(angles).to(options)};
}

at::Tensor make_rope_rotation(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options,
                              double theta) {
  const RopeTable table = make_rope_table(context, head_dim, options, theta);
  return at::complex(table.cos, table.sin).view({context, 1, 1, head_dim / 2});
}

at::Tensor eager_rope(const at::Tensor& x, const RopeTable& table) {
  const std::int64_t last = x.dim() - 1;
  const at::Tensor even = x.slice(last, 0, x.size(last), 2);
  const at::Tensor odd = x.slice(last, 1, x.size(last), 2);
  const at::Tensor turned_even = even.mul(table.cos).sub(odd.mul(table.sin));
  const at::Tensor turned_odd = even.mul(table.sin).add(odd.mul(table.cos));
  return at::stack({turned_even, turned_odd}, -1).flatten(-2);
}

at::Tensor fused_rope(const at::Tensor& x, const at::Tensor& rotation) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor pairs = at::view_as_complex(wide.unflatten(-1, {-1, 2}));
  return at::view_as_real(pairs.mul(rotation)).flatten(-2).to(x.scalar_type());
}

at::Tensor eager_embedding(const at::Tensor& weight, const at::Tensor& tokens) { return at::index(weight, {tokens}); }

at::Tensor fused_embedding(const at::Tensor& weight, const at::Tensor& tokens) { return at::embedding(weight, tokens); }

at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor rms = at::sqrt(wide.pow(2).mean(-1, /*keepdim=*/true).add(kRmsNormEpsilon));
  return wide.div(rms).mul(weight).to(x.scalar_type());
}

at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight) {
  return at::rms_norm(x, weight.sizes(), weight, kRmsNormEpsilon);
}

at::Tensor eager_swiglu(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::Tensor gate = at::linear(x, weights.w1);
  return at::linear(gate.mul(at::sigmoid(gate)).mul(at::linear(x, weights.w3)), weights.w2);
}

at::Tensor fused_swiglu(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::DeviceType device = x.device().type();
  // Autocast caches casts of parameters only and would cast x for each product.
  const at::Tensor input =
      at::autocast::is_autocast_enabled(device) ? x.to(at::autocast::get_autocast_dtype(device)) : x;
  return at::linear(at::silu(at::linear(input, weights.w1)).mul(at::linear(input, weights.w3)), weights.w2);
}

at::Tensor eager_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor shifted = logits.sub(at::amax(logits, -1, /*keepdim=*/true));
  const at::Tensor log_sum = at::log(at::exp(shifted).sum(-1, /*keepdim=*/true));
  return log_sum.sub(at::gather(shifted, -1, targets.unsqueeze(-1))).mean();
}

at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten());
}

}  // namespace tbench::model

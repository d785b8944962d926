#include "tbench/model/swiglu.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

namespace tbench::model {

at::Tensor eager_swiglu(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::Tensor gate = at::linear(x, weights.w1);
  return at::linear(gate.mul(at::sigmoid(gate)).mul(at::linear(x, weights.w3)), weights.w2);
}

at::Tensor fused_swiglu(const at::Tensor& x, const FeedForwardWeights& weights) {
  const at::DeviceType device = x.device().type();
  // Autocast remembers the casts of parameters alone: it would cast x for each product.
  const at::Tensor input =
      at::autocast::is_autocast_enabled(device) ? x.to(at::autocast::get_autocast_dtype(device)) : x;
  return at::linear(at::silu(at::linear(input, weights.w1)).mul(at::linear(input, weights.w3)), weights.w2);
}

}  // namespace tbench::model

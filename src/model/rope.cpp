#include "tbench/model/rope.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>

namespace tbench::model {
namespace {

/// [context, head_dim / 2] float64, on the CPU.
at::Tensor rope_angles(std::int64_t context, std::int64_t head_dim) {
  const auto options = at::TensorOptions{}.dtype(at::kDouble);
  const at::Tensor exponents = at::arange(0, head_dim, 2, options).div(static_cast<double>(head_dim));
  return at::outer(at::arange(context, options), at::pow(kRopeTheta, exponents.neg()));
}

}  // namespace

RopeTable make_rope_table(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options) {
  const at::Tensor angles = rope_angles(context, head_dim);
  return {.cos = at::cos(angles).to(options), .sin = at::sin(angles).to(options)};
}

at::Tensor make_rope_rotation(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options) {
  const RopeTable table = make_rope_table(context, head_dim, options);
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

}  // namespace tbench::model

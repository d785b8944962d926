#include "tbench/model/rms_norm.hpp"

#include <ATen/ops/mean.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sqrt.h>

namespace tbench::model {

at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor rms = at::sqrt(wide.pow(2).mean(-1, /*keepdim=*/true).add(kRmsNormEpsilon));
  return wide.div(rms).mul(weight).to(x.scalar_type());
}

at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight) {
  return at::rms_norm(x, weight.sizes(), weight, kRmsNormEpsilon);
}

}  // namespace tbench::model

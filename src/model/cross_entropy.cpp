#include "tbench/model/cross_entropy.hpp"

#include <ATen/ops/amax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log.h>
#include <ATen/ops/mean.h>

namespace tbench::model {

at::Tensor eager_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor shifted = logits.sub(at::amax(logits, -1, /*keepdim=*/true));
  const at::Tensor log_sum = at::log(at::exp(shifted).sum(-1, /*keepdim=*/true));
  return log_sum.sub(at::gather(shifted, -1, targets.unsqueeze(-1))).mean();
}

at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten());
}

}  // namespace tbench::model

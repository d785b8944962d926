#include "tbench/model/embedding.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/index.h>

namespace tbench::model {

at::Tensor eager_embedding(const at::Tensor& weight, const at::Tensor& tokens) { return at::index(weight, {tokens}); }

at::Tensor fused_embedding(const at::Tensor& weight, const at::Tensor& tokens) { return at::embedding(weight, tokens); }

}  // namespace tbench::model

#include "tbench/model/reference.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/autograd.h>

#include <utility>

#include "tbench/model/block.hpp"
#include "tbench/model/model_impl.hpp"

namespace tbench::model {
namespace {

std::size_t first_of_block(std::size_t layer) { return 1 + kBlockParameters * layer; }

at::Tensor run_block(const at::Tensor& x, const std::vector<at::Tensor>& tensors, const AttentionTables& tables) {
  static const LayerOps ops = eager_impl().ops;
  return block(ops, x, block_weights(std::span<const at::Tensor, kBlockParameters>{tensors.data(), kBlockParameters}),
               tables);
}

}  // namespace

Reference::Reference(const ModelStepConfig& config, const Parameters& parameters, at::ScalarType dtype)
    : parameters_{parameters}, dtype_{dtype}, num_layers_{static_cast<std::size_t>(config.size.num_layers)} {
  tables_ = make_eager_attention_tables({.context = config.context,
                                         .num_heads = config.size.num_heads,
                                         .head_dim = config.size.head_dim(),
                                         .options = parameters.named().front().value.options().dtype(dtype),
                                         .score_dtype = dtype});
}

at::Tensor Reference::converted(std::size_t index) const {
  // An alias with an autograd identity of its own where the dtype is the same already.
  return parameters_.named()[index].value.to(dtype_).detach().requires_grad_(true);
}

std::vector<at::Tensor> Reference::converted_block(std::size_t layer) const {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < kBlockParameters; ++i) tensors.push_back(converted(first_of_block(layer) + i));
  return tensors;
}

at::Tensor Reference::forward(const at::Tensor& tokens) {
  const at::NoGradGuard no_grad;
  const LayerOps ops = eager_impl().ops;
  tokens_ = tokens;
  inputs_.assign(1, ops.embedding(converted(0), tokens));
  for (std::size_t layer = 0; layer < num_layers_; ++layer) {
    inputs_.push_back(run_block(inputs_.back(), converted_block(layer), tables_));
  }
  const std::size_t norm = first_of_block(num_layers_);
  return at::linear(ops.rms_norm(inputs_.back(), converted(norm)), converted(norm + 1));
}

at::Tensor Reference::backward(const at::Tensor& targets, const GradientVisitor& visit) {
  auto [loss, gradient] = backward_head(targets, visit);
  for (std::size_t layer = num_layers_; layer-- > 0;) gradient = backward_block(layer, gradient, visit);
  const at::Tensor embeddings = converted(0);
  const auto embedded = eager_impl().ops.embedding(embeddings, tokens_);
  visit(0, torch::autograd::grad({embedded}, {embeddings}, {gradient}).front());
  inputs_.clear();
  return loss;
}

Reference::Head Reference::backward_head(const at::Tensor& targets, const GradientVisitor& visit) {
  const LayerOps ops = eager_impl().ops;
  const std::size_t norm = first_of_block(num_layers_);
  const at::Tensor x = inputs_.back().detach().requires_grad_(true);
  const at::Tensor ln_final = converted(norm);
  const at::Tensor lm_head = converted(norm + 1);
  const at::Tensor value = ops.cross_entropy(at::linear(ops.rms_norm(x, ln_final), lm_head), targets);
  const auto gradients = torch::autograd::grad({value}, {x, ln_final, lm_head});
  visit(norm + 1, gradients[2]);
  visit(norm, gradients[1]);
  return {.loss = value.detach(), .gradient = gradients[0]};
}

at::Tensor Reference::backward_block(std::size_t layer, const at::Tensor& gradient, const GradientVisitor& visit) {
  std::vector<at::Tensor> inputs = converted_block(layer);
  const at::Tensor x = inputs_[layer].detach().requires_grad_(true);
  const at::Tensor y = run_block(x, inputs, tables_);
  inputs.push_back(x);
  const auto gradients = torch::autograd::grad({y}, inputs, {gradient});
  for (std::size_t i = 0; i < kBlockParameters; ++i) visit(first_of_block(layer) + i, gradients[i]);
  return gradients.back();
}

}  // namespace tbench::model

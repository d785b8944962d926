// `math`: LibTorch's attention made of its general operations, which it takes where no fused kernel applies; backward
// by autograd. As src/model/attention/backends/NAME.cpp it is an attention backend.
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <torch/csrc/autograd/autograd.h>

#include <tuple>

#include "model/attention/implementation.hpp"
#include "model/layers/flash_attention.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model::backends::math {
namespace {

void prepare(AttentionOperands& operands) {
  if (operands.config.pass == AttentionPass::kForward) return;
  for (at::Tensor* input : {&operands.q, &operands.k, &operands.v}) input->requires_grad_(true);
}

AttentionState forward(const AttentionOperands& operands, bool /*for_backward*/) {
  auto [output, probabilities] = at::_scaled_dot_product_attention_math(
      operands.q, operands.k, operands.v, /*attn_mask=*/{}, kNoDropout, operands.config.shape.causal,
      /*dropout_mask=*/{}, operands.scale);
  return {.output = std::move(output), .lse = {}, .saved = {}};
}

AttentionGradients backward(const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
  const BackwardOnThisThread here;
  const auto gradients =
      torch::autograd::grad({state.output}, {operands.q, operands.k, operands.v}, {operands.grad_o}, keep_state);
  return {.dq = gradients[0], .dk = gradients[1], .dv = gradients[2]};
}

TBENCH_REGISTER(AttentionImpl, {.name = "math",
                                .order = 1000,
                                .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = false,
                                .score_matrices = 2,
                                .kernel_mark = {},
                                .unsupported_reason = nullptr,
                                .prepare = &prepare,
                                .forward = &forward,
                                .backward = &backward});

}  // namespace
}  // namespace tbench::model::backends::math

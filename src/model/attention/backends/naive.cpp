// `naive`: the studies' own attention, operation by operation, with scores in memory and backward by autograd. The
// softmax is one kernel of ATen, since four elementary operations would be a weaker baseline than any framework's
// attention. The mask is made once, before the timing; autograd runs on the calling thread. Heads that several heads
// share are copied in the timed step, since a product needs a head each.
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "model/attention/implementation.hpp"
#include "model/layers/shared_heads.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model::backends::naive {
namespace {

void prepare(AttentionOperands& operands) {
  const AttentionShape& shape = operands.config.shape;
  if (shape.causal) {
    operands.mask = at::ones({shape.seq_q, shape.seq_kv}, operands.q.options().dtype(at::kBool)).tril();
    operands.minus_infinity = at::scalar_tensor(-std::numeric_limits<double>::infinity(), operands.q.options());
  }
  if (operands.config.pass == AttentionPass::kForward) return;
  for (at::Tensor* input : {&operands.q, &operands.k, &operands.v}) input->requires_grad_(true);
}

AttentionState forward(const AttentionOperands& operands, bool /*for_backward*/) {
  const std::int64_t heads = operands.config.shape.heads;
  const at::Tensor k = repeated_heads(operands.k, heads), v = repeated_heads(operands.v, heads);
  at::Tensor scores = at::matmul(operands.q, k.transpose(-2, -1)).mul(operands.scale);
  if (operands.mask.defined()) scores = at::where(operands.mask, scores, operands.minus_infinity);
  scores = at::softmax(scores, -1);
  return {.output = at::matmul(scores, v), .lse = {}, .saved = {}};
}

AttentionGradients backward(const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
  const BackwardOnThisThread here;
  const auto gradients =
      torch::autograd::grad({state.output}, {operands.q, operands.k, operands.v}, {operands.grad_o}, keep_state);
  return {.dq = gradients[0], .dk = gradients[1], .dv = gradients[2]};
}

TBENCH_REGISTER(AttentionImpl, {.name = "naive",
                                .order = 10,
                                .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = false,
                                .score_matrices = 2,
                                .kernel_mark = {},
                                .unsupported_reason = nullptr,
                                .prepare = &prepare,
                                .forward = &forward,
                                .backward = &backward,
                                .has_shared_heads = true});

}  // namespace
}  // namespace tbench::model::backends::naive

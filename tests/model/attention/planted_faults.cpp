#include "tests/model/attention/planted_faults.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <limits>
#include <type_traits>
#include <utility>

namespace tbench::model::planted_attention {
namespace {

Fault& current() {
  static Fault fault;
  return fault;
}
State& state() {
  static State one;
  return one;
}

template <class... Arguments>
void commit(const std::function<void(Arguments...)>& fault, std::type_identity_t<Arguments>... arguments) {
  if (fault) fault(arguments...);
}

at::Tensor wide(const at::Tensor& tensor) { return tensor.defined() ? tensor.detach().to(at::kDouble) : tensor; }

Core core_of(const AttentionOperands& operands) {
  const AttentionShape& shape = operands.config.shape;
  const at::Tensor all = at::ones({shape.seq_q, shape.seq_kv}, at::kBool);
  Core core;
  core.scale = operands.scale;
  core.q = wide(operands.q);
  core.k = wide(operands.k);
  core.v = wide(operands.v);
  core.grad_o = wide(operands.grad_o);
  core.visible = shape.causal ? all.tril() : all;
  return core;
}

void make_scores(Core& core) {
  const at::Tensor scores = at::matmul(core.q, core.k.transpose(-2, -1))
                                .mul(core.scale)
                                .masked_fill(core.visible.logical_not(), -std::numeric_limits<double>::infinity());
  core.lse = scores.logsumexp(-1);
  core.p = scores.sub(core.lse.unsqueeze(-1)).exp();
}

AttentionState run_forward(const AttentionOperands& operands, bool /*for_backward*/) {
  const at::NoGradGuard no_grad;
  Core core = core_of(operands);
  commit<Core&>(current().before, core);
  make_scores(core);
  commit<Core&>(current().after_scores, core);
  core.o = at::matmul(core.p, core.v);
  commit<Core&, State&>(current().after_forward, core, state());
  ++state().launches;
  return {.output = core.o.to(operands.q.scalar_type()), .lse = core.lse.to(at::kFloat), .saved = {}};
}

/// Computes the gradients from the lse and o of the forward pass, as fused kernels do.
AttentionGradients run_backward(const AttentionOperands& operands, const AttentionState& forward, bool /*keep_state*/) {
  const at::NoGradGuard no_grad;
  Core core = core_of(operands);
  make_scores(core);
  core.p = core.p.mul(core.lse.sub(wide(forward.lse)).unsqueeze(-1).exp());
  core.lse = wide(forward.lse);
  core.o = wide(forward.output);
  core.rowsum = core.grad_o.mul(core.o).sum(-1, /*keepdim=*/true);
  commit<Core&>(current().before_backward, core);
  core.ds = at::matmul(core.grad_o, core.v.transpose(-2, -1)).sub(core.rowsum).mul(core.p);
  core.dq = at::matmul(core.ds, core.k).mul(core.scale);
  core.dk = at::matmul(core.ds.transpose(-2, -1), core.q).mul(core.scale);
  core.dv = at::matmul(core.p.transpose(-2, -1), core.grad_o);
  commit<Core&, State&>(current().after_backward, core, state());
  commit<const AttentionOperands&, const AttentionState&>(current().at_the_end, operands, forward);
  const auto stored = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(operands.q.scalar_type()) : tensor;
  };
  return {.dq = stored(core.dq), .dk = stored(core.dk), .dv = stored(core.dv)};
}

}  // namespace

AttentionImpl planted(const Fault& fault) {
  current() = fault;
  state() = {};
  AttentionImpl impl = attention_impls().at("sdpa_flash");
  impl.name = "planted";
  impl.forward = &run_forward;
  impl.backward = &run_backward;
  return impl;
}

}  // namespace tbench::model::planted_attention

// Injected faults of the backward pass.
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "tests/model/attention/planted_faults.hpp"

namespace tbench::model::planted_attention {
namespace {

at::Tensor keys(const at::Tensor& tensor, std::int64_t first, std::int64_t end) { return tensor.slice(2, first, end); }

/// Returns the dq of one K/V tile.
at::Tensor dq_of_tile(const Core& core, std::int64_t tile) {
  const std::int64_t first = tile * kTile, end = first + kTile;
  return at::matmul(core.ds.slice(-1, first, end), keys(core.k, first, end)).mul(core.scale);
}

/// Adds the gradient to a buffer that is cleared only once, so that earlier gradients remain in it.
void add_up(at::Tensor& gradient, State& state) {
  if (!state.a.defined()) state.a = at::zeros_like(gradient);
  state.a.add_(gradient);
  gradient = state.a.clone();
}

std::vector<Fault> gradient_faults() {
  return {
      {.name = "dq and dk swapped", .after_backward = [](Core& core, State&) { std::swap(core.dq, core.dk); }},
      {.name = "dk and dv swapped", .after_backward = [](Core& core, State&) { std::swap(core.dk, core.dv); }},
      {.name = "no dv", .after_backward = [](Core& core, State&) { core.dv.reset(); }},
      {.name = "dq without a tile of keys",
       .after_backward = [](Core& core, State&) { core.dq.sub_(dq_of_tile(core, 1)); }},
      {.name = "a tile of keys twice in dq",
       .after_backward = [](Core& core, State&) { core.dq.add_(dq_of_tile(core, 0)); }},
      {.name = "an addition to dq lost",  // of one Q tile, by a race
       .after_backward =
           [](Core& core, State&) { core.dq[1][1].slice(0, 64, 96).sub_(dq_of_tile(core, 1)[1][1].slice(0, 64, 96)); }},
      {.name = "dq not cleared", .after_backward = [](Core& core, State& state) { add_up(core.dq, state); }},
      {.name = "dk without scale", .after_backward = [](Core& core, State&) { core.dk.div_(core.scale); }},
      {.name = "dq 5 % off", .after_backward = [](Core& core, State&) { core.dq.mul_(1.05); }},
      {.name = "last tile of dv not written",
       .after_backward = [](Core& core, State&) { keys(core.dv, 96, 100).fill_(kNan); }},
      {.name = "last tile of dk zero", .after_backward = [](Core& core, State&) { keys(core.dk, 96, 100).zero_(); }},
      {.name = "dv of one tile of queries missing",
       .after_backward =
           [](Core& core, State&) {
             core.dv.sub_(at::matmul(keys(core.p, 64, 96).transpose(-2, -1), keys(core.grad_o, 64, 96)));
           }},
      {.name = "dk of the queries of the tile before",
       .after_backward =
           [](Core& core, State&) {
             core.dk = at::matmul(core.ds.transpose(-2, -1), core.q.roll(kTile, 2)).mul(core.scale);
           }},
      {.name = "dv of one row of another",
       .after_backward = [](Core& core, State&) { core.dv[0][1][7].copy_(core.dv[0][1][8].clone()); }},
      {.name = "dk of the launch before in a warp's rows",
       .after_backward =
           [](Core& core, State& state) {
             const at::Tensor now = core.dk.clone();
             if (state.b.defined()) keys(core.dk, 16, 32).copy_(keys(state.b, 16, 32));
             state.b = now;
           }},
      {.name = "NaN in one element of dk", .after_backward = [](Core& core, State&) { core.dk[0][0][0][0] = kNan; }},
  };
}

std::vector<Fault> recomputation_faults() {
  return {
      {.name = "scale 10 % off in the backward alone",
       .before_backward =
           [](Core& core) {
             // Equals p exp(0.1 s), because s = log p + lse.
             core.p = core.p.mul(core.p.log().add(core.lse.unsqueeze(-1)).mul(0.1).exp()).nan_to_num(0.0);
           }},
      {.name = "no rowsum", .before_backward = [](Core& core) { core.rowsum = at::zeros_like(core.rowsum); }},
      {.name = "rowsum of the row before", .before_backward = [](Core& core) { core.rowsum = core.rowsum.roll(1, 2); }},
      {.name = "rowsum of one head for all",
       .before_backward = [](Core& core) { core.rowsum = core.rowsum.slice(1, 0, 1).expand_as(core.rowsum); }},
      {.name = "lse of another head",
       .before_backward =
           [](Core& core) { core.p = core.p.mul(core.lse.sub(core.lse.roll(1, 1)).unsqueeze(-1).exp()); }},
      {.name = "one key too many in the backward",
       .before_backward =
           [](Core& core) {
             const at::Tensor next =
                 at::matmul(core.q, core.k.transpose(-2, -1)).mul(core.scale).sub(core.lse.unsqueeze(-1)).exp();
             core.p = next.mul(core.visible.new_ones({100, 100}).tril(1));
           }},
      {.name = "grad_o of one head for all",
       .before_backward = [](Core& core) { core.grad_o = core.grad_o.slice(1, 0, 1).expand_as(core.grad_o); }},
      {.name = "p not normalised",
       .before_backward = [](Core& core) { core.p = core.p.mul(core.lse.unsqueeze(-1).exp()); }},
      {.name = "the state overwritten",  // by the first backward from it; a timed backward is a later one
       .at_the_end =
           [](const AttentionOperands&, const AttentionState& state) {
             at::Tensor lse = state.lse;
             lse.mul_(1.4426950408889634);
           },
       .pass = AttentionPass::kBackward},
      {.name = "the last key cleared in place",
       .at_the_end =
           [](const AttentionOperands& operands, const AttentionState&) {
             at::Tensor k = operands.k;
             k.slice(2, -1).zero_();
           }},
      {.name = "keys of the first launch",
       .after_backward =
           [](Core& core, State& state) {
             if (!state.b.defined()) state.b = core.k;
             core.dq = at::matmul(core.ds, state.b).mul(core.scale);
           }},
  };
}

}  // namespace

std::vector<Fault> backward_faults() {
  std::vector<Fault> faults = gradient_faults();
  const std::vector<Fault> more = recomputation_faults();
  faults.insert(faults.end(), more.begin(), more.end());
  return faults;
}

}  // namespace tbench::model::planted_attention

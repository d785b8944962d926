// Injected faults of the forward pass.
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <utility>

#include "tests/model/attention/planted_faults.hpp"

namespace tbench::model::planted_attention {
namespace {

constexpr AttentionShape kTall{.batch = 2, .heads = 3, .seq_q = 70, .seq_kv = 100, .head_dim = 32, .causal = false};

at::Tensor rows(const at::Tensor& tensor, std::int64_t first, std::int64_t end) { return tensor.slice(2, first, end); }

/// Holds o and lse computed from the keys [first, end) alone.
struct Split {
  at::Tensor o, lse;
};
Split split_of(const Core& core, std::int64_t first, std::int64_t end) {
  const at::Tensor sum = core.p.slice(-1, first, end).sum(-1, /*keepdim=*/true);
  const at::Tensor o = at::matmul(core.p.slice(-1, first, end), core.v.slice(2, first, end)).div(sum);
  return {.o = o, .lse = sum.log().squeeze(-1).add(core.lse)};
}

/// Replaces a part of o by the same part from the previous launch.
template <class Part>
void stale(Core& core, State& state, const Part& part) {
  const at::Tensor now = core.o.clone();
  if (state.a.defined()) part(core.o).copy_(part(state.a));
  state.a = now;
}

/// Sums p and o over K/V tiles. `fault` gets a tile's p and its index.
template <class TileFault>
void over_tiles(Core& core, const TileFault& fault) {
  for (std::int64_t tile = 0; tile * kTile < core.k.size(2); ++tile) {
    at::Tensor p = core.p.slice(-1, tile * kTile, (tile + 1) * kTile);
    fault(p, tile);
  }
}

std::vector<Fault> score_faults() {
  return {
      {.name = "scale 10 % off", .before = [](Core& core) { core.scale *= 1.1; }},
      {.name = "no scale", .before = [](Core& core) { core.scale = 1.0; }},
      {.name = "one key too many",
       .before =
           [](Core& core) {
             core.visible = core.visible.new_ones({100, 100}).tril(1);
           }},
      {.name = "one key too few",
       .before =
           [](Core& core) {
             core.visible = core.visible.new_ones({100, 100}).tril(-1);
             core.visible[0][0] = true;
           }},
      {.name = "no mask in the last diagonal tile",
       .before = [](Core& core) { core.visible.slice(0, 96, 100).slice(1, 96, 100).fill_(true); }},
      {.name = "mask by tiles",
       .before =
           [](Core& core) {
             for (std::int64_t i = 0; i < 100; i += kTile)
               core.visible.slice(0, i, i + kTile).slice(1, i, i + kTile).fill_(true);
           }},
      {.name = "last keys lost", .before = [](Core& core) { core.visible.slice(1, 96).fill_(false); }, .shape = kTall},
      {.name = "a tile of keys skipped by one tile of queries",
       .before = [](Core& core) { core.visible.slice(0, 64, 96).slice(1, 32, 64).fill_(false); }},
      {.name = "keys of another head", .before = [](Core& core) { core.k = core.k.roll(1, 1); }},
      {.name = "values of another head", .before = [](Core& core) { core.v = core.v.roll(1, 1); }},
      {.name = "one head of keys for all",
       .before = [](Core& core) { core.k = core.k.slice(1, 0, 1).expand_as(core.k); }},
      {.name = "keys of another sequence", .before = [](Core& core) { core.k = core.k.roll(1, 0); }},
      {.name = "queries one row late", .before = [](Core& core) { core.q = core.q.roll(1, 2); }},
      {.name = "keys and values swapped", .before = [](Core& core) { std::swap(core.k, core.v); }},
      {.name = "last step of head_dim dropped",
       .before =
           [](Core& core) {
             core.q = core.q.clone();
             core.q.slice(3, 24).zero_();
           }},
      {.name = "keys read by columns",
       .before = [](Core& core) { core.k = core.k.transpose(2, 3).reshape(core.k.sizes()); }},
      {.name = "queries in bfloat16",
       .before = [](Core& core) { core.q = core.q.to(at::kBFloat16).to(at::kDouble); },
       .precisions = {Precision::kFp32}},
      {.name = "p in three bits",
       .after_scores = [](Core& core) { core.p = core.p.to(at::kFloat).to(at::kFloat8_e4m3fn).to(at::kDouble); }},
      {.name = "padding in the sum",  // 28 keys of zeros, whose scores are 0
       .after_scores =
           [](Core& core) {
             const at::Tensor wrong = core.lse.exp().add(28.0).log();
             core.p = core.p.mul(core.lse.sub(wrong).unsqueeze(-1).exp());
             core.lse = wrong;
           },
       .shape = kTall},
      {.name = "a tile twice in one tile of queries",
       .after_scores = [](Core& core) { core.p.slice(2, 64, 96).slice(3, 0, kTile).mul_(2.0); }},
      {.name = "o not rescaled by a later maximum",
       .after_scores =
           [](Core& core) {
             const at::Tensor scores = core.p.log();
             const at::Tensor first = scores.slice(-1, 0, kTile).amax(-1, true), all = scores.amax(-1, true);
             core.p.slice(-1, 0, kTile).mul_(all.sub(first).exp());
           }},
      {.name = "the sum of the row before",
       .after_scores =
           [](Core& core) {
             const at::Tensor wrong = core.lse.clone();
             wrong[1][2][77].copy_(core.lse[1][2][76]);
             core.p = core.p.mul(core.lse.sub(wrong).unsqueeze(-1).exp());
           }},
  };
}

std::vector<Fault> output_faults() {
  return {
      {.name = "lse in base 2",
       .after_forward = [](Core& core, State&) { core.lse = core.lse.mul(1.4426950408889634); }},
      {.name = "lse of one row off", .after_forward = [](Core& core, State&) { core.lse[1][2][99].add_(1e-3); }},
      {.name = "lse of the last row not written",
       .after_forward = [](Core& core, State&) { core.lse.slice(2, -1).fill_(kNan); }},
      {.name = "a warp's rows of the launch before",
       .after_forward = [](Core& core,
                           State& state) { stale(core, state, [](const at::Tensor& o) { return rows(o, 48, 64); }); }},
      {.name = "one head of the launch before",
       .after_forward = [](Core& core,
                           State& state) { stale(core, state, [](const at::Tensor& o) { return o.select(1, 1); }); }},
      {.name = "last rows not written", .after_forward = [](Core& core, State&) { rows(core.o, 96, 100).fill_(kNan); }},
      {.name = "last rows zero", .after_forward = [](Core& core, State&) { rows(core.o, 96, 100).zero_(); }},
      {.name = "one row of another",
       .after_forward = [](Core& core, State&) { core.o[0][1][50].copy_(core.o[0][1][51].clone()); }},
      {.name = "NaN in one element", .after_forward = [](Core& core, State&) { core.o[1][0][5][3] = kNan; }},
      {.name = "infinity in one element",
       .after_forward = [](Core& core, State&) { core.o[1][2][99][31] = std::numeric_limits<double>::infinity(); }},
      {.name = "heads and rows swapped in memory",
       .after_forward = [](Core& core,
                           State&) { core.o = core.o.transpose(1, 2).reshape(core.o.sizes()).contiguous(); }},
      {.name = "splits with equal weights",
       .after_forward = [](Core& core,
                           State&) { core.o = split_of(core, 0, 64).o.add(split_of(core, 64, 100).o).mul(0.5); },
       .shape = kTall},
      {.name = "splits with each other's weights",
       .after_forward =
           [](Core& core, State&) {
             const Split a = split_of(core, 0, 64), b = split_of(core, 64, 100);
             core.o =
                 a.o.mul(b.lse.sub(core.lse).exp().unsqueeze(-1)).add(b.o.mul(a.lse.sub(core.lse).exp().unsqueeze(-1)));
           },
       .shape = kTall},
      {.name = "a split missing",
       .after_forward = [](Core& core, State&) { core.o = split_of(core, 0, 64).o; },
       .shape = kTall},
      {.name = "a split of the launch before",
       .after_forward =
           [](Core& core, State& state) {
             const Split a = split_of(core, 0, 64), b = split_of(core, 64, 100);
             const at::Tensor late = state.a.defined() ? state.a : b.o;
             core.o = a.o.mul(a.lse.sub(core.lse).exp().unsqueeze(-1))
                          .add(late.mul(b.lse.sub(core.lse).exp().unsqueeze(-1)));
             state.a = b.o;
           },
       .shape = kTall},
      {.name = "o summed in bfloat16 from tile to tile",
       .after_forward =
           [](Core& core, State&) {
             at::Tensor sum = at::zeros_like(core.o);
             over_tiles(core, [&](const at::Tensor& p, std::int64_t tile) {
               sum = sum.add(at::matmul(p, core.v.slice(2, tile * kTile, (tile + 1) * kTile)))
                         .to(at::kBFloat16)
                         .to(at::kDouble);
             });
             core.o = sum;
           },
       .precisions = {Precision::kFp32}},
      {.name = "one pair of the launch before in a long case",  // of two, of which the last is compared as a whole
       .after_forward = [](Core& core,
                           State& state) { stale(core, state, [](const at::Tensor& o) { return o.select(1, 0); }); },
       .shape = {.batch = 1, .heads = 2, .seq_q = 4096, .seq_kv = 4096, .head_dim = 8, .causal = true},
       .pass = AttentionPass::kForward},
  };
}

}  // namespace

std::vector<Fault> forward_faults() {
  std::vector<Fault> faults = score_faults();
  const std::vector<Fault> more = output_faults();
  faults.insert(faults.end(), more.begin(), more.end());
  return faults;
}

}  // namespace tbench::model::planted_attention

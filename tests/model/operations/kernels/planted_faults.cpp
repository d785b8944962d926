#include "tests/model/operations/kernels/planted_faults.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <utility>

#include "model/layers/layers.hpp"
#include "model/operations/kernels/verify.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model::planted_kernels {
namespace {

/// Rotates pairs by the angles of `table`, whose rows are positions in the context.
at::Tensor turned(const at::Tensor& x, const RopeTable& table) {
  return eager_rope(x, {.cos = table.cos.view({x.size(1), 1, 1, -1}), .sin = table.sin.view({x.size(1), 1, 1, -1})});
}

RopeTable table_of(Operands o) {
  return make_rope_table(o.config.context, o.config.size.head_dim(), at::TensorOptions{}.dtype(at::kDouble));
}

std::vector<Fault> rope_faults() {
  const std::string op = "rope";
  return {
      {op, kForward, "keys not turned",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& y) { y.select(2, 1).copy_(o.inputs[0].select(2, 1)); });
       }},
      {op, kForward, "positions one late",
       [](Operands o) {
         const RopeTable table = table_of(o);
         return stored(o, turned(in(o, 0), {.cos = table.cos.roll(1, 0), .sin = table.sin.roll(1, 0)}));
       }},
      {op, kForward, "turned backward",
       [](Operands o) {
         const RopeTable table = table_of(o);
         return stored(o, turned(in(o, 0), {.cos = table.cos, .sin = table.sin.neg()}));
       }},
      {op, kForward, "halves for pairs",
       [](Operands o) {
         const RopeTable table = table_of(o);
         const at::Tensor cos = table.cos.view({o.config.context, 1, 1, -1}),
                          sin = table.sin.view({o.config.context, 1, 1, -1});
         const auto halves = in(o, 0).chunk(2, -1);
         return stored(
             o, at::cat({halves[0].mul(cos).sub(halves[1].mul(sin)), halves[0].mul(sin).add(halves[1].mul(cos))}, -1));
       }},
      {op, kForward, "last head not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& y) { return y.slice(3, -1); }); }},
      {op, kForward, "a table in bfloat16",
       [](Operands o) {
         const RopeTable table = table_of(o);
         return stored(o, turned(in(o, 0), {.cos = table.cos.to(at::kBFloat16).to(at::kDouble),
                                            .sin = table.sin.to(at::kBFloat16).to(at::kDouble)}));
       }},
      {op, kBackward, "turned forward", [](Operands o) { return stored(o, turned(gradient(o), table_of(o))); }},
  };
}

std::vector<Fault> swiglu_faults() {
  const std::string op = "swiglu";
  return {
      {op, kForward, "gate and up swapped", [](Operands o) { return stored(o, in(o, 0).mul(at::silu(in(o, 1)))); }},
      {op, kForward, "sigmoid for silu", [](Operands o) { return stored(o, at::sigmoid(in(o, 0)).mul(in(o, 1))); }},
      {op, kForward, "last vector not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& h) { return h.slice(0, -1).slice(1, -8); }); }},
      {op, kForward, "a block of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& h) { return h.slice(0, 10, 12).slice(1, 0, 64); }); }},
      {op, kForward, "a fast sigmoid",  // with few correct digits
       [](Operands o) {
         const at::Tensor s = in(o, 0).mul(0.5).to(at::kBFloat16).to(at::kDouble).tanh().mul(0.5).add(0.5);
         return stored(o, in(o, 0).mul(s).mul(in(o, 1)));
       },
       kSingle},
      {op, kBackward, "dgate without up",
       [](Operands o) { return changed(o, 0, [&](at::Tensor& d) { d.copy_(d.to(at::kDouble).div(in(o, 1))); }); }},
      {op, kBackward, "slope of the sigmoid alone",
       [](Operands o) {
         const at::Tensor s = at::sigmoid(in(o, 0));
         return changed(o, 0, [&](at::Tensor& d) { d.copy_(gradient(o).mul(in(o, 1)).mul(s)); });
       }},
      {op, kBackward, "results swapped",
       [](Operands o) {
         Results results = right(o);
         std::swap(results[0], results[1]);
         return results;
       }},
      {op, kBackward, "dup written into dh",
       [](Operands o) {
         Results results = right(o);
         at::Tensor dh = o.gradients[0];
         dh.copy_(results[1]);
         return results;
       }},
  };
}

std::vector<Fault> embedding_faults() {
  const std::string op = "embedding";
  return {
      {op, kForward, "ids of the first launch",
       [](Operands o) {
         if (remembered().empty()) remembered() = {o.inputs[1].clone()};
         return Results{at::embedding(o.inputs[0], remembered()[0])};
       }},
      {op, kForward, "last token's row not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& y) { return y.slice(0, -1); }); }},
      {op, kForward, "one id in 16 bits",
       [](Operands o) { return Results{at::embedding(o.inputs[0], o.inputs[1].bitwise_and(0x1fff))}; }},
      {op, kBackward, "tokens of the same word overwrite each other",
       [](Operands o) { return Results{at::zeros_like(o.inputs[0]).index_put_({o.inputs[1]}, o.gradients[0])}; }},
      {op, kBackward, "one token lost",
       [](Operands o) {
         return changed(
             o, 0, [&](at::Tensor& d) { d.select(0, o.inputs[1][9].item<std::int64_t>()).sub_(o.gradients[0][9]); });
       }},
      {op, kBackward, "not cleared", [](Operands o) { return added_up(o, 0); }},
  };
}

/// Runs a step and then applies `change` to the block's tensors.
template <class Change>
Results stepped(Operands o, const Change& change) {
  Results before;
  for (const at::Tensor& input : o.inputs) before.push_back(input.clone());
  Results results = right(o);
  change(o.inputs, before);
  return results;
}

constexpr std::size_t kTensors = 9;  // per block: parameters, then gradients, first moments and second moments

std::vector<Fault> adamw_faults() {
  const std::string op = "adamw";
  return {
      {op, kForward, "nothing done",
       [](Operands o) {
         Results results = o.inputs;
         results.erase(results.begin() + kTensors, results.begin() + 2 * kTensors);
         return results;
       },
       kSingle},
      {op, kForward, "no weight decay",
       [](Operands o) {
         return stepped(o, [](const Results& now, const Results& before) { now[3].add_(before[3], 1e-3 * 1e-2); });
       },
       kSingle},
      {op, kForward, "learning rate 1 % off",
       [](Operands o) {
         return stepped(o, [](const Results& now, const Results& before) { now[4].add_(now[4].sub(before[4]), 0.01); });
       },
       kSingle},
      {op, kForward, "tail of a tensor not stepped",
       [](Operands o) {
         return stepped(o, [](const Results& now, const Results& before) {
           now[6].slice(0, -1).slice(1, -4).copy_(before[6].slice(0, -1).slice(1, -4));
         });
       },
       kSingle},
      {op, kForward, "no bias correction",
       [](Operands o) {
         KernelOperands late = o;
         for (at::Tensor& step : late.saved) step = step.mul(1000.0);
         return right(late);
       },
       kSingle},
      {op, kForward, "one step too many",
       [](Operands o) {
         KernelOperands late = o;
         for (at::Tensor& step : late.saved) step = step.add(1.0);
         return right(late);
       },
       kSingle},
      {op, kForward, "second moment of one tensor left",
       [](Operands o) {
         return stepped(o, [](const Results& now, const Results& before) { now[27 + 5].copy_(before[27 + 5]); });
       },
       kSingle},
      {op, kForward, "gradient cleared",
       [](Operands o) { return stepped(o, [](const Results& now, const Results&) { now[kTensors].zero_(); }); },
       kSingle},
      {op, kForward, "a step too small in bfloat16",
       [](Operands o) {
         return stepped(o, [](const Results& now, const Results&) { now[2].copy_(now[2].to(at::kBFloat16)); });
       },
       kSingle},
  };
}

std::vector<Fault> copying_faults() {
  return {
      {"cast", kForward, "cut off, not rounded",
       [](Operands o) {
         return Results{o.inputs[0].view(at::kInt).bitwise_right_shift(16).to(at::kShort).view(at::kBFloat16)};
       },
       kShort},
      {"cast", kForward, "by way of float16", [](Operands o) { return stored(o, o.inputs[0].to(at::kHalf)); }, kShort},
      {"cast", kForward, "last vector not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& w) { return w.slice(0, -1).slice(1, -8); }); },
       kShort},
      {"cast", kForward, "the weight of the first launch",
       [](Operands o) {
         if (remembered().empty()) remembered() = right(o);
         return Results{remembered()[0].clone()};
       },
       kShort},
      {"cast", kBackward, "scaled",
       [](Operands o) { return changed(o, 0, [](at::Tensor& d) { d.mul_(1.0F + 0x1p-20F); }); }, kShort},
      {"add", kForward, "one term twice", [](Operands o) { return Results{o.inputs[0].add(o.inputs[0])}; }},
      {"add", kForward, "in bfloat16",
       [](Operands o) { return stored(o, o.inputs[0].to(at::kBFloat16).add(o.inputs[1].to(at::kBFloat16))); }, kSingle},
      {"add", kForward, "cut off, not rounded",
       [](Operands o) {
         const at::Tensor sum = o.inputs[0].to(at::kFloat).add(o.inputs[1].to(at::kFloat));
         return Results{sum.view(at::kInt).bitwise_right_shift(16).to(at::kShort).view(at::kBFloat16)};
       },
       kShort},
      {"add", kForward, "NaN in one element",
       [](Operands o) {
         return changed(o, 0, [](at::Tensor& s) { s[95][71] = std::numeric_limits<double>::quiet_NaN(); });
       }},
      {"add", kForward, "a block of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& s) { return s.flatten().slice(0, 1024, 1024 + 128); }); }},
  };
}

}  // namespace

std::vector<at::Tensor>& remembered() {
  static std::vector<at::Tensor> tensors;
  return tensors;
}

std::vector<at::Tensor> right(const KernelOperands& operands) {
  return run_kernel(operands, *find_kernel_impl(operands.config.op, "aten"));
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults = row_faults();
  for (const std::vector<Fault>& more : {rope_faults(), swiglu_faults(), embedding_faults(), adamw_faults(),
                                         copying_faults(), fused_step_faults(), head_faults()}) {
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

}  // namespace tbench::model::planted_kernels

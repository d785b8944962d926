// Injected faults of the operations of a fused step: errors that its kernels could have.
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

#include "model/layers/layers.hpp"
#include "tests/model/operations/kernels/planted_faults.hpp"

namespace tbench::model::planted_kernels {
namespace {

/// Returns x / rms(x) * w of the stream `x`, stored in the sublayer's type.
at::Tensor normed_of(Operands o, const at::Tensor& x) {
  const at::Tensor& w = o.inputs[2];
  return at::rms_norm(x, w.sizes(), w, kRmsNormEpsilon).to(type_of(o));
}

std::vector<Fault> residual_faults() {
  const std::string op = "add_rmsnorm";
  return {
      {op, kForward, "the norm of x alone",
       [](Operands o) {
         return Results{right(o)[0], normed_of(o, o.inputs[0].detach())};
       }},
      {op, kForward, "the sum in 16 bits",
       [](Operands o) {
         const at::Tensor sum = o.inputs[0].add(o.inputs[1]).to(at::kBFloat16).to(at::kFloat);
         return Results{sum, normed_of(o, sum)};
       }},
      {op, kForward, "the sum over x",
       [](Operands o) {
         const Results results = right(o);
         at::Tensor x = o.inputs[0];
         x.copy_(results[0]);
         return results;
       }},
      {op, kForward, "last vector of the sum not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& sum) { return sum.slice(1, -4); }); }},
      {op, kForward, "a row's norm from the row before",
       [](Operands o) { return changed(o, 1, [&](at::Tensor& y) { y.slice(0, 20, 21).mul_(1.02); }); }},
      {op, kBackward, "dx without what passes the norm by",
       [](Operands o) { return changed(o, 0, [&](at::Tensor& dx) { dx.sub_(o.gradients[0]); }); }},
      {op, kBackward, "what passes the norm by, twice",
       [](Operands o) { return changed(o, 0, [&](at::Tensor& dx) { dx.add_(o.gradients[0]); }); }},
      {op, kBackward, "the sublayer's gradient without what passes the norm by",
       [](Operands o) { return changed(o, 1, [&](at::Tensor& d) { d.sub_(o.gradients[0].to(d.scalar_type())); }); }},
      {op, kBackward, "dx by way of 16 bits",
       [](Operands o) { return changed(o, 0, [](at::Tensor& dx) { dx.copy_(dx.to(at::kBFloat16)); }); }},
      {op, kBackward, "a block's share of dw missing",
       [](Operands o) {
         return changed(o, 2, [&](at::Tensor& dw) {
           const at::Tensor sum = in(o, 0).add(in(o, 1)).slice(0, 40, 42);
           const at::Tensor n = sum.div(sum.square().mean(-1, true).add(kRmsNormEpsilon).sqrt());
           dw.sub_(o.gradients[1].slice(0, 40, 42).to(at::kDouble).mul(n).sum(0).to(at::kFloat));
         });
       }},
      {op, kBackward, "dw not cleared", [](Operands o) { return added_up(o, 2); }},
  };
}

std::vector<Fault> layout_faults() {
  const std::string op = "rope_qkv";
  return {
      {op, kForward, "values turned, too",
       [](Operands o) {
         const at::Tensor turned = fused_rope(o.inputs[0], o.saved[0]);
         return Results{turned.permute({2, 0, 3, 1, 4}).contiguous()};
       }},
      {op, kForward, "keys not turned",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& y) { y.select(0, 1).copy_(o.inputs[0].select(2, 1).transpose(1, 2)); });
       }},
      {op, kForward, "keys and values swapped",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& y) {
           const at::Tensor k = y.select(0, 1).clone();
           y.select(0, 1).copy_(y.select(0, 2));
           y.select(0, 2).copy_(k);
         });
       }},
      {op, kForward, "two heads swapped",
       [](Operands o) { return changed(o, 0, [](at::Tensor& y) { y.copy_(y.roll(1, 2)); }); }},
      {op, kForward, "last position not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& y) { return y.slice(3, -1); }); }},
      {op, kBackward, "turned forward",
       [](Operands o) {
         KernelOperands forward = o;
         forward.saved[0] = o.saved[0].conj().resolve_conj();
         return right(forward);
       }},
      {op, kBackward, "one sequence's gradient in another",
       [](Operands o) { return changed(o, 0, [](at::Tensor& d) { d.copy_(d.roll(1, 0)); }); }},
      {op, kBackward, "values' gradient of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& d) { return d.select(2, 2); }); }},
  };
}

std::vector<Fault> packed_faults() {
  const std::string op = "swiglu_packed";
  return {
      {op, kForward, "gate and up interleaved",
       [](Operands o) {
         const at::Tensor pairs = in(o, 0).unflatten(-1, {-1, 2});
         return stored(o, at::silu(pairs.select(-1, 0)).mul(pairs.select(-1, 1)));
       }},
      {op, kForward, "last row not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& h) { return h.slice(0, -1); }); }},
      {op, kBackward, "h without up",
       [](Operands o) { return changed(o, 2, [&](at::Tensor& h) { h.copy_(at::silu(in(o, 0).chunk(2, -1)[0])); }); }},
      {op, kBackward, "dgate where dup belongs",
       [](Operands o) {
         Results results = right(o);
         std::swap(results[0], results[1]);
         return results;
       }},
      {op, kBackward, "a slope without its second term",
       [](Operands o) {
         const std::vector<at::Tensor> halves = in(o, 0).chunk(2, -1);
         return changed(o, 0, [&](at::Tensor& d) { d.copy_(gradient(o).mul(halves[1]).mul(at::sigmoid(halves[0]))); });
       }},
      {op, kBackward, "gradients over the inputs",
       [](Operands o) {
         const Results results = right(o);
         at::Tensor inputs = o.inputs[0];
         inputs.chunk(2, -1)[0].copy_(results[0]);
         return results;
       }},
  };
}

std::vector<Fault> loss_faults() {
  const std::string op = "cross_entropy_in_place";
  return {
      {op, kForward, "no 1 at one target",
       [](Operands o) {
         Results results = right(o);
         results[1][50][o.inputs[1][50].item<std::int64_t>()] = 0.0;
         return results;
       }},
      {op, kForward, "the mean's gradient",
       [](Operands o) {
         Results results = right(o);
         results[1].div_(static_cast<double>(o.config.tokens()));
         return results;
       }},
      {op, kForward, "last row not overwritten",
       [](Operands o) {
         const at::Tensor before = o.inputs[0].slice(0, -1).clone();
         Results results = right(o);
         results[1].slice(0, -1).copy_(before);
         return results;
       }},
      {op, kForward, "a row's loss from the row before",
       [](Operands o) {
         Results results = right(o);
         results[0].slice(0, 7, 8).copy_(results[0].slice(0, 6, 7).clone());
         return results;
       }},
      {op, kForward, "the target's logit after it was overwritten",
       [](Operands o) {
         const at::Tensor targets = o.inputs[1].unsqueeze(1);
         const at::Tensor before = o.inputs[0].gather(1, targets).squeeze(1).to(at::kFloat);
         Results results = right(o);
         results[0].add_(before).sub_(results[1].gather(1, targets).squeeze(1).to(at::kFloat));
         return results;
       }},
      {op, kForward, "last tile of words not in the sum",
       [](Operands o) {
         const at::Tensor whole = in(o, 0).logsumexp(-1),
                          part = in(o, 0).slice(1, 0, kVocabSize / 1024 * 1024).logsumexp(-1);
         Results results = right(o);
         results[0].add_(part.sub(whole).to(at::kFloat));
         return results;
       }},
      {op, kForward, "a target overwritten",
       [](Operands o) {
         Results results = right(o);
         at::Tensor targets = o.inputs[1];
         targets[3] = 0;
         return results;
       }},
  };
}

constexpr std::size_t kCopies = 27;  // index of the copies: nine parameters and their two moments come first

std::vector<Fault> copy_faults() {
  const std::string op = "adamw_cast";
  const auto copies_changed = [](Operands o, std::size_t tensor, const auto& change) {
    Results results = right(o);
    change(results.at(kCopies + tensor), results.at(tensor));
    return results;
  };
  static const auto with = copies_changed;
  return {
      {op, kForward, "copies of the parameters before the step",
       [](Operands o) {
         const at::Tensor before = o.inputs[0].clone();
         return with(o, 0, [&](at::Tensor& copy, const at::Tensor&) { copy.copy_(before.mul(1.01)); });
       },
       kShort},
      {op, kForward, "no copy of one tensor",
       [](Operands o) {
         return with(o, 8,
                     [](at::Tensor& copy, const at::Tensor&) { copy.fill_(std::numeric_limits<double>::quiet_NaN()); });
       },
       kShort},
      {op, kForward, "cut off, not rounded",
       [](Operands o) {
         return with(o, 4, [](at::Tensor& copy, const at::Tensor& p) {
           copy.copy_(p.view(at::kInt).bitwise_right_shift(16).to(at::kShort).view(at::kBFloat16));
         });
       },
       kShort},
      {op, kForward, "tail of a copy not written",
       [](Operands o) {
         return with(o, 6, [](at::Tensor& copy, const at::Tensor&) { copy.slice(0, -1).slice(1, -4).zero_(); });
       },
       kShort},
      {op, kForward, "parameters rounded with their copies",
       [](Operands o) {
         Results results = right(o);
         results[2].copy_(results[kCopies + 2]);
         return results;
       },
       kShort},
  };
}

}  // namespace

std::vector<Fault> fused_step_faults() {
  std::vector<Fault> faults = residual_faults();
  for (const std::vector<Fault>& more : {layout_faults(), packed_faults(), loss_faults(), copy_faults()}) {
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

}  // namespace tbench::model::planted_kernels

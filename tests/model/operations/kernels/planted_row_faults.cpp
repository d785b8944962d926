// Injected faults of operations on rows.
#include <ATen/ops/exp.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros_like.h>

#include "model/layers/layers.hpp"
#include "tests/model/operations/kernels/planted_faults.hpp"

namespace tbench::model::planted_kernels {
namespace {

/// Computes the forward pass of rmsnorm in float64, with `mean(x)` as the mean square.
template <class Mean>
Results norm_with(Operands o, const Mean& mean) {
  const at::Tensor x = in(o, 0);
  return stored(o, x.mul(at::rsqrt(mean(x).add(kRmsNormEpsilon))).mul(in(o, 1)));
}

at::Tensor mean_square(const at::Tensor& x) { return x.square().mean(-1, /*keepdim=*/true); }

std::vector<Fault> norm_faults() {
  const std::string op = "rmsnorm";
  return {
      {op, kForward, "last row of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& y) { return y.slice(0, -1); }); }},
      {op, kForward, "a warp's rows not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& y) { return y.slice(0, 32, 36); }); }},
      {op, kForward, "last vector of a row not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& y) { return y.slice(1, -8); }); }},
      {op, kForward, "mean over a padded row",
       [](Operands o) { return norm_with(o, [](const at::Tensor& x) { return mean_square(x).mul(72.0 / 128.0); }); }},
      {op, kForward, "a lane's squares left out",
       [](Operands o) {
         return norm_with(o, [](const at::Tensor& x) {
           return mean_square(x).sub(x.slice(1, 0, 4).square().sum(-1, true).div(72.0));
         });
       }},
      {op, kForward, "the norm of the row before",
       [](Operands o) { return norm_with(o, [](const at::Tensor& x) { return mean_square(x).roll(1, 0); }); }},
      {op, kForward, "ten times epsilon",
       [](Operands o) {
         return norm_with(o, [](const at::Tensor& x) { return mean_square(x).add(9 * kRmsNormEpsilon); });
       },
       kSingle},
      {op, kForward, "the variance",
       [](Operands o) {
         return norm_with(o, [](const at::Tensor& x) { return mean_square(x.sub(x.mean(-1, true))); });
       }},
      {op, kForward, "squares summed in bfloat16",
       [](Operands o) {
         return norm_with(o, [](const at::Tensor& x) {
           at::Tensor sum = at::zeros_like(x.slice(1, 0, 1));
           for (std::int64_t i = 0; i < x.size(1); ++i) {
             sum = sum.add(x.slice(1, i, i + 1).square()).to(at::kBFloat16).to(at::kDouble);
           }
           return sum.div(static_cast<double>(x.size(1)));
         });
       }},
      {op, kForward, "no weight",
       [](Operands o) {
         const at::Tensor x = in(o, 0);
         return stored(o, x.mul(at::rsqrt(mean_square(x).add(kRmsNormEpsilon))));
       }},
      {op, kBackward, "dx without what goes through the norm",
       [](Operands o) {
         Results results = right(o);
         results[0] =
             gradient(o).mul(in(o, 1)).mul(at::rsqrt(mean_square(in(o, 0)).add(kRmsNormEpsilon))).to(type_of(o));
         return results;
       }},
      {op, kBackward, "dw of one row missing",
       [](Operands o) {
         const at::Tensor x = in(o, 0).slice(0, 41, 42);
         const at::Tensor term =
             gradient(o).slice(0, 41, 42).mul(x).mul(at::rsqrt(mean_square(x).add(kRmsNormEpsilon)));
         return changed(o, 1, [&](at::Tensor& dw) { dw.sub_(term.squeeze(0).to(dw.scalar_type())); });
       }},
      {op, kBackward, "dw not cleared", [](Operands o) { return added_up(o, 1); }},
      {op, kBackward, "dx of the row before",
       [](Operands o) {
         return changed(o, 0, [](at::Tensor& dx) { dx.slice(0, 64, 65).copy_(dx.slice(0, 63, 64).clone()); });
       }},
      {op, kBackward, "dw missing", [](Operands o) { return Results{right(o)[0]}; }},
  };
}

/// Computes softmax in float64, with `sum(exponentials)` as the row sums.
template <class Sum>
Results softmax_with(Operands o, const Sum& sum) {
  const at::Tensor x = in(o, 0);
  const at::Tensor power = at::exp(x.sub(x.amax(-1, /*keepdim=*/true)));
  return stored(o, power.div(sum(power)));
}

std::vector<Fault> softmax_faults() {
  const std::string op = "softmax";
  return {
      {op, kForward, "last tile not in the sum",
       [](Operands o) {
         return softmax_with(o, [](const at::Tensor& e) { return e.slice(-1, 0, 32).sum(-1, true); });
       }},
      {op, kForward, "padding in the sum",  // exp(0 - max) of every column beyond the last
       [](Operands o) {
         const at::Tensor pad = at::exp(in(o, 0).amax(-1, true).neg()).mul(16.0);
         return softmax_with(o, [&](const at::Tensor& e) { return e.sum(-1, true).add(pad); });
       }},
      {op, kForward, "the sum of the row before",
       [](Operands o) { return softmax_with(o, [](const at::Tensor& e) { return e.sum(-1, true).roll(1, -2); }); }},
      {op, kForward, "a running sum not rescaled",  // when the maximum of a later tile is larger
       [](Operands o) {
         const at::Tensor x = in(o, 0);
         const at::Tensor first = x.slice(-1, 0, 32), second = x.slice(-1, 32, x.size(-1));
         const at::Tensor sum = at::exp(first.sub(first.amax(-1, true)))
                                    .sum(-1, true)
                                    .add(at::exp(second.sub(x.amax(-1, true))).sum(-1, true));
         return softmax_with(o, [&](const at::Tensor&) { return sum; });
       }},
      {op, kForward, "over queries", [](Operands o) { return stored(o, at::softmax(in(o, 0), -2)); }},
      {op, kForward, "one row of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& p) { return p[1][3].slice(0, 47, 48); }); }},
      {op, kForward, "in place",
       [](Operands o) {
         const Results results = right(o);
         at::Tensor scores = o.inputs[0];
         scores.copy_(results[0]);
         return results;
       }},
      {op, kBackward, "no sum over p dp",
       [](Operands o) { return stored(o, gradient(o).mul(at::softmax(in(o, 0), -1))); }},
      {op, kBackward, "the sum over p dp of the row before",
       [](Operands o) {
         const at::Tensor p = at::softmax(in(o, 0), -1), dp = gradient(o);
         return stored(o, p.mul(dp.sub(p.mul(dp).sum(-1, true).roll(1, -2))));
       }},
      {op, kBackward, "last tile not in the sum over p dp",
       [](Operands o) {
         const at::Tensor p = at::softmax(in(o, 0), -1), dp = gradient(o);
         return stored(o, p.mul(dp.sub(p.mul(dp).slice(-1, 0, 32).sum(-1, true))));
       }},
  };
}

// A CPU computes a bfloat16 loss with sums of 8 bits. Its tolerance, up to 3 %, is wider than the change that one token
// of a hundred causes. These faults are therefore injected only in float32.
std::vector<Fault> cross_entropy_faults() {
  const std::string op = "cross_entropy";
  return {
      {op, kForward, "last token lost",
       [](Operands o) {
         const at::Tensor terms = in(o, 0).logsumexp(-1).sub(in(o, 0).gather(1, o.inputs[1].unsqueeze(1)).squeeze(1));
         return stored(o, terms.slice(0, 0, -1).sum().div(static_cast<double>(o.config.tokens())));
       },
       kSingle},
      {op, kForward, "sum for mean",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& loss) { loss.mul_(static_cast<double>(o.config.tokens())); });
       }},
      {op, kForward, "targets one late",
       [](Operands o) {
         const at::Tensor terms =
             in(o, 0).logsumexp(-1).sub(in(o, 0).gather(1, o.inputs[1].roll(1, 0).unsqueeze(1)).squeeze(1));
         return stored(o, terms.mean());
       },
       kSingle},
      {op, kForward, "last tile of words not in the sum",
       [](Operands o) {
         const at::Tensor sums = in(o, 0).slice(1, 0, kVocabSize / 1024 * 1024).logsumexp(-1);
         return stored(o, sums.sub(in(o, 0).gather(1, o.inputs[1].unsqueeze(1)).squeeze(1)).mean());
       },
       kSingle},
      {op, kForward, "the loss of the launch before",
       [](Operands o) { return stale(o, [](const at::Tensor& loss) { return loss.view({1}); }); }, kSingle},
      {op, kBackward, "no 1 at one target",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& d) { d[50][o.inputs[1][50].item<std::int64_t>()] = 0.0; });
       }},
      {op, kBackward, "1 at another word",
       [](Operands o) {
         return changed(o, 0, [&](at::Tensor& d) { d.slice(0, 7, 8).copy_(d.slice(0, 7, 8).roll(1, 1)); });
       }},
      {op, kBackward, "not by dloss",
       [](Operands o) {
         return changed(o, 0,
                        [&](at::Tensor& d) { d.copy_(d.to(at::kDouble).div(gradient(o)).mul(o.config.tokens())); });
       }},
      {op, kBackward, "last tile of words is zero",
       [](Operands o) { return changed(o, 0, [](at::Tensor& d) { d.slice(1, kVocabSize / 1024 * 1024).zero_(); }); }},
      {op, kBackward, "last row not written",
       [](Operands o) { return unwritten(o, [](const at::Tensor& d) { return d.slice(0, -1); }); }},
  };
}

}  // namespace

std::vector<Fault> row_faults() {
  std::vector<Fault> faults = norm_faults();
  for (const std::vector<Fault>& more : {softmax_faults(), cross_entropy_faults()}) {
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

}  // namespace tbench::model::planted_kernels

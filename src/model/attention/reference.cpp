#include "model/attention/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tbench::model {
namespace {

/// Computes the reference of some whole (batch, head) pairs at once, in float64.
class ReferenceGroup {
 public:
  ReferenceGroup(const AttentionReferenceInput& input, std::int64_t first, std::int64_t count)
      : scale_{input.scale},
        causal_{input.causal},
        queries_{input.queries},
        block_elements_{input.block_elements},
        q_{pairs(input.q, first, count)},
        k_{pairs(input.k, first, count)},
        v_{pairs(input.v, first, count)},
        grad_o_{input.grad_o.defined() ? pairs(input.grad_o, first, count) : at::Tensor{}} {
    if (!grad_o_.defined()) return;
    dk_ = at::zeros_like(k_);
    dv_ = at::zeros_like(v_);
  }

  AttentionReference run() {
    const std::int64_t seq_q = q_.size(1);
    const std::int64_t rows = std::max<std::int64_t>(1, block_elements_ / (q_.size(0) * k_.size(1)));
    for (std::int64_t first = 0; first < seq_q; first += rows) add_rows(first, std::min(rows, seq_q - first));
    AttentionReference result{
        .o = at::cat(o_, 1), .lse = at::cat(lse_, 1), .dq = {}, .dk = dk_, .dv = dv_, .dq_of_rowsum = {}};
    if (grad_o_.defined()) {
      result.dq = at::cat(dq_, 1);
      result.dq_of_rowsum = at::cat(dq_of_rowsum_, 1);
    }
    return result;
  }

 private:
  static at::Tensor pairs(const at::Tensor& tensor, std::int64_t first, std::int64_t count) {
    return tensor.narrow(0, first, count).to(at::kDouble);
  }

  void add_rows(std::int64_t first, std::int64_t count) {
    // With a causal mask, keys after the block's last query are masked in all rows.
    const bool knows_end = causal_ && !queries_.defined();
    const std::int64_t visible = knows_end ? first + count : k_.size(1);
    const at::Tensor q = q_.narrow(1, first, count), k = k_.narrow(1, 0, visible), v = v_.narrow(1, 0, visible);
    at::Tensor p = at::bmm(q, k.transpose(1, 2)).mul_(scale_);
    if (causal_) {
      const auto index = q.options().dtype(at::kLong);
      const at::Tensor query =
          queries_.defined() ? queries_.narrow(0, first, count) : at::arange(first, first + count, index);
      const at::Tensor key = at::arange(visible, index);
      p.masked_fill_(key.gt(query.unsqueeze(1)), -std::numeric_limits<double>::infinity());
    }
    lse_.push_back(at::logsumexp(p, {-1}));
    p.sub_(lse_.back().unsqueeze(-1)).exp_();
    o_.push_back(at::bmm(p, v));
    if (!grad_o_.defined()) return;
    const at::Tensor grad_o = grad_o_.narrow(1, first, count);
    dv_.narrow(1, 0, visible).baddbmm_(p.transpose(1, 2), grad_o);
    const at::Tensor products = grad_o.mul(o_.back());
    const at::Tensor ds =
        at::bmm(grad_o, v.transpose(1, 2)).sub_(products.sum(-1, /*keepdim=*/true)).mul_(p).mul_(scale_);
    dq_.push_back(at::bmm(ds, k));
    dk_.narrow(1, 0, visible).baddbmm_(ds.transpose(1, 2), q);
    const at::Tensor mean_square = at::bmm(p, k).square_().mean(-1, /*keepdim=*/true);
    dq_of_rowsum_.push_back(products.norm(2, -1, /*keepdim=*/true).mul_(mean_square.sqrt_()).mul_(scale_));
  }

  double scale_;
  bool causal_;
  at::Tensor queries_;
  std::int64_t block_elements_;
  at::Tensor q_, k_, v_, grad_o_;
  at::Tensor dk_, dv_;
  std::vector<at::Tensor> o_, lse_, dq_, dq_of_rowsum_;  // results of the blocks
};

at::Tensor joined(const std::vector<AttentionReference>& groups, at::Tensor AttentionReference::*member) {
  std::vector<at::Tensor> parts;
  for (const AttentionReference& group : groups) parts.push_back(group.*member);
  return parts.front().defined() ? at::cat(parts, 0) : at::Tensor{};
}

}  // namespace

AttentionReference attention_reference(const AttentionReferenceInput& input) {
  const at::NoGradGuard no_grad;
  const std::int64_t count = input.q.size(0);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(input.block_elements / (input.q.size(1) * input.k.size(1)), 1, count);
  std::vector<AttentionReference> groups;
  for (std::int64_t first = 0; first < count; first += at_once) {
    groups.push_back(ReferenceGroup{input, first, std::min(at_once, count - first)}.run());
  }
  return {.o = joined(groups, &AttentionReference::o),
          .lse = joined(groups, &AttentionReference::lse),
          .dq = joined(groups, &AttentionReference::dq),
          .dk = joined(groups, &AttentionReference::dk),
          .dv = joined(groups, &AttentionReference::dv),
          .dq_of_rowsum = joined(groups, &AttentionReference::dq_of_rowsum)};
}

AttentionKeyGradients key_gradients(const AttentionReferenceInput& input, const at::Tensor& keys) {
  const at::NoGradGuard no_grad;
  AttentionReferenceInput forward = input;
  forward.grad_o = at::Tensor{};
  const AttentionReference reference = attention_reference(forward);
  const auto of_pair = [](const at::Tensor& all) { return all.squeeze(0).to(at::kDouble); };
  const at::Tensor q = of_pair(input.q), grad_o = of_pair(input.grad_o);
  const at::Tensor k = of_pair(input.k.index_select(1, keys)), v = of_pair(input.v.index_select(1, keys));
  at::Tensor p = at::mm(q, k.t()).mul_(input.scale).sub_(reference.lse.view({-1, 1})).exp_();  // [seq_q, n]
  if (input.causal) p.masked_fill_(keys.gt(at::arange(q.size(0), keys.options()).unsqueeze(1)), 0);
  const at::Tensor rowsum = grad_o.mul(reference.o.squeeze(0)).sum(-1, /*keepdim=*/true);
  const at::Tensor ds = at::mm(grad_o, v.t()).sub_(rowsum).mul_(p).mul_(input.scale);
  return {.dk = at::mm(ds.t(), q), .dv = at::mm(p.t(), grad_o)};
}

}  // namespace tbench::model

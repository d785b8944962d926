// The sm90 TF32 backward kernels with their preprocess kernel, compiled for the emulator: one problem, its results
// compared with the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90_tf32/bwd/kernels.cuh"

// CTAs run one after the other, so only one CTA at a time uses the static variables.
#pragma push_macro("__shared__")
#undef __shared__
#define __shared__ static
#include "kernels/attention/sm90_tf32/bwd/preprocess.cuh"
#pragma pop_macro("__shared__")

namespace tbench::kernels::sm90_tf32 {

template <int kColumns>
class EmulatedBackward : public EmulatedProblem<float, kColumns> {
  using Problem = EmulatedProblem<float, kColumns>;
  using Problem::lengths_, Problem::problem_;

 public:
  EmulatedBackward(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kTf32, lengths, seed} {}

  /// Compares dq, dk and dv.
  std::vector<Comparison> backward(bool takes_turns = false) {
    takes_turns_ = takes_turns;
    return this->compare_backward(gradients(this->stored_o(), this->lse()));
  }

 private:
  /// Computes the gradients. The whole workspace is NaN beforehand.
  typename Problem::Gradients gradients(std::vector<float> o, const std::vector<float>& lse) {
    const BwdWorkspace workspace = backward_workspace(problem_.shape);
    const auto garbage = [](std::size_t bytes) { return std::vector<float>(bytes / sizeof(float), NAN); };
    std::vector<float> stored_lse = garbage(workspace.statistics_bytes), delta = garbage(workspace.statistics_bytes),
                       q = garbage(workspace.queries_bytes), grad_o = garbage(workspace.queries_bytes),
                       k = garbage(workspace.keys_bytes);
    const BwdPreprocessParams before{.q = matrix_of<const float>(this->view(this->q_)),
                                     .k = matrix_of<const float>(this->view(this->k_)),
                                     .grad_o = matrix_of<const float>(this->view(this->grad_o_)),
                                     .o = this->template matrix<const float>(o),
                                     .lse = lse.data(),
                                     .q_transposed = q.data(),
                                     .grad_o_transposed = grad_o.data(),
                                     .k_transposed = k.data(),
                                     .lse_out = stored_lse.data(),
                                     .delta_out = delta.data(),
                                     .heads = static_cast<int>(kHeads),
                                     .seq_q = lengths_.q,
                                     .seq_kv = lengths_.kv,
                                     .queries = static_cast<int>(workspace.queries),
                                     .keys = static_cast<int>(workspace.keys),
                                     .scale = problem_.scale};
    this->run(backward_prepare_launch(problem_.shape),
              [&](char*) { attention_bwd_sm90_tf32_preprocess_kernel<kColumns>(before); });
    auto gradients = this->no_gradients();
    constexpr int kStepQueries = stream_tile(kColumns, Stationary::kKv).rows;
    BwdParams p{};
    p.kept_q = map(this->q_, lengths_.q, kWgmmaM);
    p.kept_grad_o = map(this->grad_o_, lengths_.q, kWgmmaM);
    p.q = map(this->q_, lengths_.q, kStepQueries);
    p.grad_o = map(this->grad_o_, lengths_.q, kStepQueries);
    p.k = map(this->k_, lengths_.kv, kWgmmaM);
    p.v = map(this->v_, lengths_.kv, kWgmmaM);
    p.q_transposed = q.data();
    p.grad_o_transposed = grad_o.data();
    p.k_transposed = k.data();
    p.lse = stored_lse.data();
    p.delta = delta.data();
    p.dq = matrix_of<float>(this->view(gradients.dq));
    p.dk = matrix_of<float>(this->view(gradients.dk));
    p.dv = matrix_of<float>(this->view(gradients.dv));
    p.heads = p.batch_heads = static_cast<int>(kHeads);
    p.seq_q = lengths_.q;
    p.seq_kv = lengths_.kv;
    p.queries = before.queries;
    p.keys = before.keys;
    p.scale = problem_.scale;
    p.causal = lengths_.causal;
    p.order = backward_order(problem_.shape, Stationary::kKv);
    this->run(backward_launch(problem_.shape, Stationary::kKv), [&](char* memory) {
      takes_turns_ ? backward_block<kColumns, Stationary::kKv, true>(p, memory)
                   : backward_block<kColumns, Stationary::kKv, false>(p, memory);
    });
    p.order = backward_order(problem_.shape, Stationary::kQ);
    this->run(backward_launch(problem_.shape, Stationary::kQ),
              [&](char* memory) { backward_block<kColumns, Stationary::kQ, false>(p, memory); });
    return gradients;
  }

  CUtensorMap map(std::vector<float>& elements, int rows, int box_rows) {
    return emulated_map<kColumns, sizeof(float)>(this->view(elements), rows, box_rows, /*rounds_to_tf32=*/true);
  }

  bool takes_turns_ = false;
};

}  // namespace tbench::kernels::sm90_tf32

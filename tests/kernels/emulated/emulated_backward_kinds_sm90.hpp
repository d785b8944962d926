// The sm90 split backward kernel with its preprocess kernel, compiled for the emulator: one problem in bf16, its
// results compared with the reference.
#pragma once

#include <cmath>
#include <vector>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90/bwd_split/kernel.cuh"

namespace tbench::kernels::sm90 {

template <class Tile>
class EmulatedKinds : public EmulatedProblem<__nv_bfloat16, kKindsHeadDim> {
  using Element = __nv_bfloat16;
  using Problem = EmulatedProblem<Element, kKindsHeadDim>;
  using Problem::lengths_, Problem::problem_;

 public:
  static constexpr bool kMakesStatistics = Tile::tile().makes_statistics;

  EmulatedKinds(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kBf16, lengths, seed} {}

  /// Compares dq, dk and dv, with at most `blocks` CTAs.
  std::vector<Comparison> backward(int blocks) {
    const std::int64_t rows = backward_workspace(problem_.shape, {.sums = DqAccumulation::kNone}).rows;
    const std::vector<float> lse =
        kMakesStatistics ? this->lse() : this->padded(this->lse(), rows, -1 / problem_.scale, -INFINITY);
    const std::vector<float> delta = this->padded(this->row_products_of_o(), rows, -1, 0);
    auto o = this->stored_o();
    auto gradients = this->no_gradients();
    const SplitParams p{.q = emulated_map<kKindsHeadDim>(this->view(this->q_), lengths_.q, kWgmmaM),
                        .k = emulated_map<kKindsHeadDim>(this->view(this->k_), lengths_.kv, kWgmmaM),
                        .v = emulated_map<kKindsHeadDim>(this->view(this->v_), lengths_.kv, kWgmmaM),
                        .grad_o = emulated_map<kKindsHeadDim>(this->view(this->grad_o_), lengths_.q, kWgmmaM),
                        .o = emulated_map<kKindsHeadDim>(this->view(o), lengths_.q, kWgmmaM),
                        .dq = this->view(gradients.dq),
                        .dk = this->view(gradients.dk),
                        .dv = this->view(gradients.dv),
                        .lse = lse.data(),
                        .delta = kMakesStatistics ? nullptr : delta.data(),
                        .seq_q = lengths_.q,
                        .seq_kv = lengths_.kv,
                        .rows = static_cast<int>(rows),
                        .scale = problem_.scale,
                        .causal = lengths_.causal,
                        .order = kinds_order(problem_.shape)};
    this->run(kinds_launch(problem_.shape, Tile::tile(), {.multiprocessors = blocks}),
              [&](char* memory) { kinds_block<Element, Tile>(p, memory); });
    return this->compare_backward(gradients);
  }
};

}  // namespace tbench::kernels::sm90

// The float32 attention kernels, compiled for the emulator: one problem, its results compared with the reference.
#pragma once

#include "attention/backward_32bit.cuh"
#include "attention/forward_32bit.cuh"
#include "emulated/emulated_problem.hpp"

namespace tbench::kernels {

/// TF32's products, or three of them where `kExact`.
template <bool kExact, int kHeadDim>
class EmulatedAttention32 : public EmulatedProblem<float, kHeadDim> {
  using Problem = EmulatedProblem<float, kHeadDim>;
  using Problem::grad_o_, Problem::k_, Problem::q_, Problem::v_;
  using Problem::lengths_, Problem::problem_;

 public:
  EmulatedAttention32(const Lengths& lengths, std::uint32_t seed)
      : Problem{kExact ? Precision::kFp32 : Precision::kTf32, lengths, seed} {}

  /// o, lse.
  template <class Tile>
  std::vector<Comparison> forward() {
    std::vector<float> o = this->nothing(lengths_.q), lse(this->rows(lengths_.q), NAN);
    const Forward32Parameters parameters{.q = Problem::template matrix<const float>(q_),
                                         .k = Problem::template matrix<const float>(k_),
                                         .v = Problem::template matrix<const float>(v_),
                                         .o = Problem::template matrix<float>(o),
                                         .lse = lse.data(),
                                         .heads = static_cast<int>(kHeads),
                                         .seq_q = lengths_.q,
                                         .seq_kv = lengths_.kv,
                                         .scale = problem_.scale,
                                         .causal = lengths_.causal};
    this->run(forward_32bit_launch(problem_.shape, Tile::tile(kHeadDim)), [&](char* memory) {
      Forward32Block<kExact, kHeadDim, Tile>{parameters, memory}.run();
    });
    return this->compare_forward(o, lse);
  }

  /// dq, dk, dv.
  template <class Tile>
  std::vector<Comparison> backward(BackwardMethod method) {
    const bool atomic = method == BackwardMethod::kAtomic;
    constexpr BackwardTile kTile = Tile::tile(kHeadDim);
    std::vector<float> o = this->stored_o(), delta = this->row_products_of_o();
    const std::vector<float> lse = this->lse();
    std::vector<float> dq = this->nothing(lengths_.q), dk = this->nothing(lengths_.kv), dv = dk;
    if (atomic) dq.assign(dq.size(), 0.0f);
    const Backward32Parameters parameters{.q = Problem::template matrix<const float>(q_),
                                          .k = Problem::template matrix<const float>(k_),
                                          .v = Problem::template matrix<const float>(v_),
                                          .o = Problem::template matrix<const float>(o),
                                          .grad_o = Problem::template matrix<const float>(grad_o_),
                                          .lse = lse.data(),
                                          .delta = method == BackwardMethod::kSplitAlone ? nullptr : delta.data(),
                                          .dq = Problem::template matrix<float>(dq),
                                          .dk = Problem::template matrix<float>(dk),
                                          .dv = Problem::template matrix<float>(dv),
                                          .heads = static_cast<int>(kHeads),
                                          .seq_q = lengths_.q,
                                          .seq_kv = lengths_.kv,
                                          .kv_tiles = (lengths_.kv + kTile.kept_rows - 1) / kTile.kept_rows,
                                          .scale = problem_.scale,
                                          .causal = lengths_.causal,
                                          .heads_first = lengths_.causal && method != BackwardMethod::kSplitAlone};
    this->run(backward_32bit_launch(problem_.shape, kTile, method), [&](char* memory) {
      if constexpr (kTile.score_stages > 0) {
        Backward32Block<kExact, kHeadDim, Tile, false, true>{parameters, memory, block_place(parameters.heads_first)}
            .run();
      } else {
        run_split_backward_32bit<kExact, kHeadDim, Tile>(parameters, memory);
      }
    });
    return this->compare_backward(dq, dk, dv);
  }
};

}  // namespace tbench::kernels

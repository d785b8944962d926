// The 16-bit attention kernels, compiled for the emulator: one problem in bf16, its results compared with the
// reference.
#pragma once

#include "attention/backward_16bit.cuh"
#include "attention/forward_16bit.cuh"
#include "emulated/emulated_problem.hpp"

namespace tbench::kernels {

template <int kHeadDim>
class EmulatedAttention16 : public EmulatedProblem<__nv_bfloat16, kHeadDim> {
  using Element = __nv_bfloat16;
  using Problem = EmulatedProblem<Element, kHeadDim>;
  using Problem::grad_o_, Problem::k_, Problem::q_, Problem::v_;
  using Problem::lengths_, Problem::problem_;

 public:
  EmulatedAttention16(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kBf16, lengths, seed} {}

  /// o, lse.
  template <class Tile>
  std::vector<Comparison> forward() {
    constexpr ForwardTile kTile = Tile::tile(kHeadDim);
    std::vector<Element> o = this->nothing(lengths_.q);
    std::vector<float> lse(this->rows(lengths_.q), NAN);
    const ForwardParameters<Element> parameters{.q = Problem::template matrix<const Element>(q_),
                                                .k = Problem::template matrix<const Element>(k_),
                                                .v = Problem::template matrix<const Element>(v_),
                                                .o = Problem::template matrix<Element>(o),
                                                .lse = lse.data(),
                                                .heads = static_cast<int>(kHeads),
                                                .seq_q = lengths_.q,
                                                .seq_kv = lengths_.kv,
                                                .scale = problem_.scale,
                                                .causal = lengths_.causal};
    this->run(forward_launch(problem_.shape, kTile), [&](char* memory) {
      ForwardBlock<Element, kHeadDim, Tile>{parameters, memory}.run();
    });
    return this->compare_forward(o, lse);
  }

  /// dq, dk, dv.
  std::vector<Comparison> backward(BackwardMethod method) {
    std::vector<Element> dq = this->nothing(lengths_.q), dk = this->nothing(lengths_.kv),
                         dv = this->nothing(lengths_.kv);
    const bool atomic = method == BackwardMethod::kAtomic;
    const int query_blocks = (lengths_.q + kBackwardHelperRows - 1) / kBackwardHelperRows * (kBackwardHelperRows / 16);
    std::vector<float> sums(static_cast<std::size_t>(kHeads * query_blocks * 16 * kHeadDim), 0.0f);
    const std::vector<float> lse = this->lse(atomic ? kLog2E : 1.0f), delta = this->row_products_of_o();
    const BackwardTile split = SplitBackward::tile(kHeadDim);
    const BackwardParameters<Element> parameters{.q = Problem::template matrix<const Element>(q_),
                                                 .k = Problem::template matrix<const Element>(k_),
                                                 .v = Problem::template matrix<const Element>(v_),
                                                 .o = {},
                                                 .grad_o = Problem::template matrix<const Element>(grad_o_),
                                                 .lse = lse.data(),
                                                 .delta = delta.data(),
                                                 .dq = Problem::template matrix<Element>(dq),
                                                 .dk = Problem::template matrix<Element>(dk),
                                                 .dv = Problem::template matrix<Element>(dv),
                                                 .delta_out = nullptr,
                                                 .base_2_lse_out = nullptr,
                                                 .dq_sums = sums.data(),
                                                 .heads = static_cast<int>(kHeads),
                                                 .seq_q = lengths_.q,
                                                 .seq_kv = lengths_.kv,
                                                 .query_blocks = query_blocks,
                                                 .kv_tiles = (lengths_.kv + split.kept_rows - 1) / split.kept_rows,
                                                 .scale = problem_.scale,
                                                 .causal = lengths_.causal};
    const BackwardTile tile = atomic ? AtomicBackward::tile(kHeadDim) : split;
    this->run(backward_launch(problem_, tile, method), [&](char* memory) {
      const int index = static_cast<int>(blockIdx.x);
      if (atomic) {
        BackwardBlock<Element, kHeadDim, AtomicBackward, Gradient::kKeysAndValues, true>{parameters, memory, index}
            .run();
      } else if (index < parameters.kv_tiles) {
        BackwardBlock<Element, kHeadDim, SplitBackward, Gradient::kKeysAndValues, false>{parameters, memory, index}
            .run();
      } else {
        BackwardBlock<Element, kHeadDim, SplitBackward, Gradient::kQueries, false>{parameters, memory,
                                                                                   index - parameters.kv_tiles}
            .run();
      }
    });
    if (atomic) take_sums(dq, sums, query_blocks);
    return this->compare_backward(dq, dk, dv);
  }

 private:
  /// What the kernel after the products makes of the sums: see add_query_gradient().
  void take_sums(std::vector<Element>& dq, const std::vector<float>& sums, int query_blocks) const {
    for (std::size_t i = 0; i < dq.size(); ++i) {
      const auto column = static_cast<int>(i % kHeadDim);
      const auto row = static_cast<int>(i / kHeadDim) % lengths_.q, head = static_cast<int>(i / kHeadDim) / lengths_.q;
      const int block = (head * query_blocks + row / 16) * (kHeadDim / 8) + column / 8;
      const int lane = row % 8 * 4 + column % 8 / 2, register_number = row % 16 / 8 * 2 + column % 2;
      dq[i] =
          Element(sums[static_cast<std::size_t>((block * kWarpSize + lane) * 4 + register_number)] * problem_.scale);
    }
  }
};

}  // namespace tbench::kernels

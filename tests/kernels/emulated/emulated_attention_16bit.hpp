// The 16-bit attention kernels, compiled for the emulator: one problem in bf16, its results compared with the
// reference.
#pragma once

#include <algorithm>

#include "emulated/emulated_problem.hpp"
#include "kernels/attention/sm80/bwd/mainloop_16bit.cuh"
#include "kernels/attention/sm80/fwd/kernel_16bit.cuh"

namespace tbench::kernels::sm80 {

template <int kHeadDim>
class EmulatedAttention16 : public EmulatedProblem<__nv_bfloat16, kHeadDim> {
  using Element = __nv_bfloat16;
  using Problem = EmulatedProblem<Element, kHeadDim>;

 public:
  EmulatedAttention16(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kBf16, lengths, seed} {}

  /// Compares o and lse.
  template <class Tile>
  std::vector<Comparison> forward(SplitKv parts = {}) {
    return this->run_forward(
        forward_launch(this->problem_.shape, Tile::tile(kHeadDim), parts.num_splits),
        [](const FwdParams<Element>& parameters, char* memory) {
          FwdMainloop<Element, kHeadDim, Tile>{parameters, memory}.run();
        },
        parts, &combine_splits<Element, kHeadDim>);
  }

  /// Compares o and lse with the keys divided among CTAs, `keys` per CTA.
  std::vector<Comparison> forward_split_kv(int keys) {
    return forward<FwdSplitKv>({.num_splits = static_cast<int>(block_count(this->lengths_.kv, keys)), .keys = keys});
  }

  /// Returns whether the combine kernel writes anything in a CTA beyond all queries.
  bool combine_writes_at(unsigned block) {
    std::vector<Element> o = this->nothing(this->lengths_.q);
    std::vector<float> lse(this->rows(this->lengths_.q), NAN);
    const SplitKv split_kv{.num_splits = 1, .keys = this->lengths_.kv};
    std::vector<std::byte> workspace(forward_workspace(this->problem_.shape, split_kv).bytes());
    AttentionForward arguments{.q = {}, .k = {}, .v = {}, .o = this->view(o), .lse = lse.data()};
    arguments.workspace = workspace.data();
    const auto parameters = forward_parameters<Element>(this->problem_, arguments, split_kv);
    emulator::run_block({.block = {block, 0, 0}, .grid = {block + 1, kHeads, 1}, .threads = kCombineThreads},
                        [&](char*) { combine_splits<Element, kHeadDim>(parameters); });
    const auto is_written = [](auto x) { return !std::isnan(static_cast<float>(x)); };
    return std::ranges::any_of(o, is_written) || std::ranges::any_of(lse, is_written);
  }

  /// Compares dq, dk and dv.
  std::vector<Comparison> backward(BwdAlgorithm method) {
    const bool atomic = method == BwdAlgorithm::kAtomicDq;
    const int query_blocks =
        static_cast<int>(block_count(this->lengths_.q, kBackwardHelperRows)) * (kBackwardHelperRows / 16);
    std::vector<float> sums(static_cast<std::size_t>(kHeads * query_blocks * 16 * kHeadDim), 0.0f);
    const std::vector<float> lse = this->lse(atomic ? kLog2E : 1.0f), delta = this->row_products_of_o();
    auto gradients = this->no_gradients();
    const BwdConfig split = BwdSplit::tile(kHeadDim);
    auto parameters = this->template backward_parameters<BwdParams<Element>>(gradients, split.kept_rows);
    parameters.lse = lse.data();
    parameters.delta = delta.data();
    parameters.dq_sums = sums.data();
    parameters.query_blocks = query_blocks;
    parameters.heads_first = this->lengths_.causal && !splits_keys_from_values(kHeadDim);
    const BwdConfig tile = atomic ? BwdAtomic::tile(kHeadDim) : split;
    this->run(backward_launch(this->problem_, tile, method), [&](char* memory) {
      if (atomic) {
        BwdMainloop<Element, kHeadDim, BwdAtomic, Gradient::kDkDv, true>{parameters, memory, schedule_tile(false)}
            .run();
      } else {
        run_split_backward_16bit<Element, kHeadDim>(parameters, memory);
      }
    });
    if (atomic) take_sums(gradients.dq, sums, query_blocks);
    return this->compare_backward(gradients);
  }

 private:
  /// Converts the sums as the postprocess kernel does: see add_query_gradient().
  void take_sums(std::vector<Element>& dq, const std::vector<float>& sums, int query_blocks) const {
    for (std::size_t i = 0; i < dq.size(); ++i) {
      const auto column = static_cast<int>(i % kHeadDim);
      const auto row = static_cast<int>(i / kHeadDim) % this->lengths_.q,
                 head = static_cast<int>(i / kHeadDim) / this->lengths_.q;
      const int block = (head * query_blocks + row / 16) * (kHeadDim / 8) + column / 8;
      const int lane = row % 8 * 4 + column % 8 / 2, register_number = row % 16 / 8 * 2 + column % 2;
      dq[i] = Element(sums[static_cast<std::size_t>((block * kWarpSize + lane) * 4 + register_number)] *
                      this->problem_.scale);
    }
  }
};

}  // namespace tbench::kernels::sm80

// The float32 attention kernels, compiled for the emulator: one problem, its results compared with the reference.
#pragma once

#include "emulated/emulated_problem.hpp"
#include "kernels/attention/sm80/bwd/mainloop_fp32.cuh"
#include "kernels/attention/sm80/fwd/kernel_fp32.cuh"

namespace tbench::kernels::sm80 {

/// Uses products of TF32 operands; three of them if `k3xTf32`.
template <bool k3xTf32, int kHeadDim>
class EmulatedAttention32 : public EmulatedProblem<float, kHeadDim> {
  using Problem = EmulatedProblem<float, kHeadDim>;

 public:
  EmulatedAttention32(const Lengths& lengths, std::uint32_t seed)
      : Problem{k3xTf32 ? Precision::kFp32 : Precision::kTf32, lengths, seed} {}

  /// Compares o and lse.
  template <class Tile>
  std::vector<Comparison> forward() {
    return this->run_forward(forward_32bit_launch(this->problem_.shape, Tile::tile(kHeadDim)),
                             [](const FwdParams<float>& parameters, char* memory) {
                               FwdFp32Mainloop<k3xTf32, kHeadDim, Tile>{parameters, memory}.run();
                             });
  }

  /// Compares dq, dk and dv.
  /// @param heads_first  with a causal mask, iterates over heads first even for kSplitFusedDelta, which no plan
  ///                     does; CTAs then do not follow the grid
  template <class Tile>
  std::vector<Comparison> backward(BwdAlgorithm method, bool heads_first = false) {
    constexpr BwdConfig kTile = Tile::tile(kHeadDim);
    auto gradients = this->no_gradients();
    if (method == BwdAlgorithm::kAtomicDq) gradients.dq.assign(gradients.dq.size(), 0.0f);
    std::vector<float> o = this->stored_o(), delta = this->row_products_of_o();
    const std::vector<float> lse = this->lse();
    auto parameters = this->template backward_parameters<BwdFp32Params>(gradients, kTile.kept_rows);
    parameters.o = this->template matrix<const float>(o);
    parameters.lse = lse.data();
    parameters.delta = method == BwdAlgorithm::kSplitFusedDelta ? nullptr : delta.data();
    parameters.heads_first = this->lengths_.causal && (heads_first || method != BwdAlgorithm::kSplitFusedDelta);
    this->run(backward_32bit_launch(this->problem_.shape, kTile, method), [&](char* memory) {
      if constexpr (kTile.score_stages > 0) {
        BwdFp32Mainloop<k3xTf32, kHeadDim, Tile, false, true>{parameters, memory, schedule_tile(parameters.heads_first)}
            .run();
      } else {
        run_split_backward_32bit<k3xTf32, kHeadDim, Tile>(parameters, memory);
      }
    });
    return this->compare_backward(gradients);
  }
};

}  // namespace tbench::kernels::sm80

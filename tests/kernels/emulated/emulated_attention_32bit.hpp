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

 public:
  EmulatedAttention32(const Lengths& lengths, std::uint32_t seed)
      : Problem{kExact ? Precision::kFp32 : Precision::kTf32, lengths, seed} {}

  /// o, lse.
  template <class Tile>
  std::vector<Comparison> forward() {
    return this->run_forward(forward_32bit_launch(this->problem_.shape, Tile::tile(kHeadDim)),
                             [](const ForwardParameters<float>& parameters, char* memory) {
                               Forward32Block<kExact, kHeadDim, Tile>{parameters, memory}.run();
                             });
  }

  /// dq, dk, dv.
  template <class Tile>
  std::vector<Comparison> backward(BackwardMethod method) {
    constexpr BackwardTile kTile = Tile::tile(kHeadDim);
    auto gradients = this->no_gradients();
    if (method == BackwardMethod::kAtomic) gradients.dq.assign(gradients.dq.size(), 0.0f);
    std::vector<float> o = this->stored_o(), delta = this->row_products_of_o();
    const std::vector<float> lse = this->lse();
    auto parameters = this->template backward_parameters<Backward32Parameters>(gradients, kTile.kept_rows);
    parameters.o = this->template matrix<const float>(o);
    parameters.lse = lse.data();
    parameters.delta = method == BackwardMethod::kSplitAlone ? nullptr : delta.data();
    parameters.heads_first = this->lengths_.causal && method != BackwardMethod::kSplitAlone;
    this->run(backward_32bit_launch(this->problem_.shape, kTile, method), [&](char* memory) {
      if constexpr (kTile.score_stages > 0) {
        Backward32Block<kExact, kHeadDim, Tile, false, true>{parameters, memory, block_place(parameters.heads_first)}
            .run();
      } else {
        run_split_backward_32bit<kExact, kHeadDim, Tile>(parameters, memory);
      }
    });
    return this->compare_backward(gradients);
  }
};

}  // namespace tbench::kernels

// The sm90 TF32 forward kernels with their preprocess kernel, compiled for the emulator: one problem, its results
// compared with the reference.
#pragma once

#include <cmath>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90_tf32/fwd/kernel.cuh"
#include "kernels/attention/sm90_tf32/fwd/preprocess.cuh"

namespace tbench::kernels::sm90_tf32 {

template <int kColumns>
class EmulatedForward : public EmulatedProblem<float, kColumns> {
  using Problem = EmulatedProblem<float, kColumns>;
  using Problem::lengths_, Problem::problem_;

 public:
  EmulatedForward(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kTf32, lengths, seed} {}

  /// Compares o and lse, with at most `blocks` CTAs.
  std::vector<Comparison> forward(int blocks, FwdPlan choice) {
    const FwdWorkspace workspace = forward_workspace(problem_.shape, choice);
    std::vector<float> o = this->nothing(lengths_.q), values(workspace.values_bytes / sizeof(float), NAN),
                       lse(this->rows(lengths_.q), NAN);
    unsigned counter = 7;
    const PreprocessParams before{.v = this->template matrix<const float>(this->v_),
                                  .values = values.data(),
                                  .counter = choice.counted ? &counter : nullptr,
                                  .heads = static_cast<int>(kHeads),
                                  .seq_kv = lengths_.kv,
                                  .padded_keys = static_cast<int>(workspace.key_tiles) * forward_tile(kColumns).cols};
    this->run(prepare_launch(problem_.shape),
              [&](char*) { attention_fwd_sm90_tf32_preprocess_kernel<kColumns>(before); });
    FwdParams p{};
    p.q = map(this->q_, lengths_.q, kWgmmaM, /*rounds=*/false);
    p.k = map(this->k_, lengths_.kv, forward_tile(kColumns).cols, /*rounds=*/true);
    p.values = values.data();
    p.o = this->view(o);
    p.lse = lse.data();
    p.heads = static_cast<int>(kHeads);
    p.seq_q = lengths_.q;
    p.seq_kv = lengths_.kv;
    p.key_tiles = static_cast<int>(workspace.key_tiles);
    p.scale = problem_.scale;
    p.causal = lengths_.causal;
    p.order = forward_order(problem_.shape, choice);
    p.divisors = forward_divisors(p.order, problem_.shape);
    p.counter = before.counter;
    this->run(forward_launch(problem_.shape, {.multiprocessors = blocks}),
              [&](char* memory) { forward_block<kColumns>(p, memory); });
    return this->compare_forward(o, lse);
  }

 private:
  CUtensorMap map(std::vector<float>& elements, int rows, int box_rows, bool rounds) {
    return emulated_map<kColumns, sizeof(float)>(this->view(elements), rows, box_rows, rounds);
  }
};

}  // namespace tbench::kernels::sm90_tf32

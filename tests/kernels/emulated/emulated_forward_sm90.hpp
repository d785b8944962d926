// The sm90 forward kernels, compiled for the emulator: one problem in bf16, its results compared with the reference.
#pragma once

#include <cmath>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90/fwd/kernel.cuh"

namespace tbench::kernels::sm90 {

template <int kColumns, class Tile>
class EmulatedForward : public EmulatedProblem<__nv_bfloat16, kColumns> {
  using Element = __nv_bfloat16;
  using Problem = EmulatedProblem<Element, kColumns>;
  using Problem::lengths_, Problem::problem_;

 public:
  EmulatedForward(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kBf16, lengths, seed} {}

  /// Compares o and lse, with at most `blocks` CTAs and the static or the dynamic schedule.
  std::vector<Comparison> forward(int blocks, bool counted) {
    std::vector<Element> o = this->nothing(lengths_.q);
    std::vector<float> lse(this->rows(lengths_.q), NAN);
    unsigned counter = 0;
    FwdParams p{};
    p.q = emulated_map<kColumns>(this->view(this->q_), lengths_.q, kWgmmaM);
    p.k = emulated_map<kColumns>(this->view(this->k_), lengths_.kv, Tile::tile().cols);
    p.v = emulated_map<kColumns>(this->view(this->v_), lengths_.kv, Tile::tile().cols);
    p.o = emulated_map<kColumns>(this->view(o), lengths_.q, kWgmmaM);
    p.lse = lse.data();
    p.heads = static_cast<int>(kHeads);
    p.seq_q = lengths_.q;
    p.seq_kv = lengths_.kv;
    p.scale = problem_.scale;
    p.causal = lengths_.causal;
    p.order = forward_order(problem_.shape, rows(Tile::tile()), lengths_.causal);
    p.divisors = forward_divisors(p.order, problem_.shape);
    p.counter = counted ? &counter : nullptr;
    p.stored_o = this->view(o);
    this->run(forward_launch(problem_.shape, Tile::tile(), {.multiprocessors = blocks}),
              [&](char* memory) { forward_block<Element, kColumns, Tile>(p, memory); });
    return this->compare_forward(o, lse);
  }
};

}  // namespace tbench::kernels::sm90

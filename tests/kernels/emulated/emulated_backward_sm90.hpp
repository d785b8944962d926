// The sm90 backward kernels, compiled for the emulator: one problem in bf16, its results compared with the reference.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90/bwd_hdim256/kernel.cuh"
#include "kernels/attention/sm90/bwd_persistent/kernel.cuh"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"

namespace tbench::kernels::sm90 {

template <int kColumns, BwdSchedule kKind>
class EmulatedBackward : public EmulatedProblem<__nv_bfloat16, kColumns> {
  using Element = __nv_bfloat16;
  using Problem = EmulatedProblem<Element, kColumns>;
  static constexpr bool kStays = kKind == BwdSchedule::kPersistent;
  using Problem::lengths_, Problem::problem_;

 public:
  static constexpr BwdSchedule kBlocks = kKind;

  EmulatedBackward(const Lengths& lengths, std::uint32_t seed) : Problem{Precision::kBf16, lengths, seed} {}

  /// Compares dq, dk and dv. Persistent CTAs number at most `blocks`. Only they support kPerKvTile and kPerHead.
  std::vector<Comparison> backward(int blocks, DqAccumulation sums, int shares = 1) {
    const BwdPlan choice{.blocks = kKind, .sums = sums, .shares = shares};
    if constexpr (kStays) {
      using enum DqAccumulation;
      if (sums == kAtomic) return backward<PersistentParams, kAtomic>(blocks, choice);
      if (sums == kPerKvTile) return backward<PersistentParams, kPerKvTile>(blocks, choice);
      return backward<PerHeadParams, kPerHead>(blocks, choice);
    } else {
      return backward<TileParams, DqAccumulation::kAtomic>(blocks, choice);
    }
  }

 private:
  template <class Parameters, DqAccumulation kSums>
  std::vector<Comparison> backward(int blocks, const BwdPlan& choice) {
    constexpr int kQueries = backward_tile(kColumns).queries;
    constexpr bool kPerHead = kSums == DqAccumulation::kPerHead;
    const BwdWorkspace workspace = backward_workspace(problem_.shape, choice);
    // With the injected fault kBackwardKept, a step of one work tile may be used as a step of another one, before or
    // after all queries.
    const std::size_t room =
        backward_workspace(problem_.shape, {.sums = DqAccumulation::kPerKvTile}).sums_bytes / sizeof(float);
    const float garbage = kSums == DqAccumulation::kAtomic ? 0.0f : NAN;  // the preprocess kernel clears it
    std::vector<float> memory_of_sums(room + workspace.sums_bytes / sizeof(float) + room, garbage);
    float* const sums = memory_of_sums.data() + room;
    const std::vector<float> lse = this->padded(this->lse(), workspace.rows, -1 / problem_.scale, -INFINITY);
    const std::vector<float> delta = this->padded(this->row_products_of_o(), workspace.rows, -1, 0);
    auto gradients = this->no_gradients();
    const auto map = [](const TensorView& view, int rows, int box_rows) {
      return emulated_map<kColumns, 2, backward_panel_columns(kColumns)>(view, rows, box_rows);
    };
    Parameters p{};
    p.q = map(this->view(this->q_), lengths_.q, kQueries);
    p.k = map(this->view(this->k_), lengths_.kv, kWgmmaM);
    p.v = map(this->view(this->v_), lengths_.kv, kWgmmaM);
    p.grad_o = map(this->view(this->grad_o_), lengths_.q, kQueries);
    p.lse = lse.data();
    p.delta = delta.data();
    p.dq_sums = sums;
    p.heads = p.batch_heads = static_cast<int>(kHeads);
    p.seq_q = lengths_.q;
    p.seq_kv = lengths_.kv;
    p.rows = static_cast<int>(workspace.rows);
    p.scale = problem_.scale;
    p.causal = lengths_.causal;
    if constexpr (kStays) {
      p.dk = this->view(gradients.dk);
      p.dv = this->view(gradients.dv);
      if constexpr (kPerHead) {
        p.order = heads_order(problem_.shape, choice.shares, this->view(gradients.dq));
      } else {
        p.order = staying_order(problem_.shape);
      }
    } else {
      p.dk = map(this->view(gradients.dk), lengths_.kv, kWgmmaM);
      p.dv = map(this->view(gradients.dv), lengths_.kv, kWgmmaM);
      p.order = backward_order(problem_.shape);
    }
    const DeviceLimits limits{.multiprocessors = blocks};
    const Launch launch = kPerHead ? backward_heads_launch(problem_.shape, choice.shares, limits)
                                   : backward_launch(problem_.shape, kKind, limits);
    this->run(launch, [&](char* memory) {
      if constexpr (kStays) {
        backward_block<Element, kColumns, kSums>(p, memory);
      } else if constexpr (kColumns > 128) {
        deep_block<Element, kColumns>(p, memory);
      } else {
        one_item_block<Element, kColumns>(p, memory);
      }
    });
    if (kPerHead && choice.shares == 1) return this->compare_backward(gradients);
    const int apart = kPerHead                              ? choice.shares
                      : kSums == DqAccumulation::kPerKvTile ? backward_order(problem_.shape).tiles
                                                            : 1;
    take_sums(gradients.dq, sums, p, apart);
    return this->compare_backward(gradients);
  }

  /// Converts the sums as the postprocess kernel does: `apart` partial sums.
  template <class Parameters>
  static void take_sums(std::vector<Element>& dq, const float* sums, const Parameters& p, int apart) {
    const std::size_t of_tile = static_cast<std::size_t>(kHeads) * static_cast<std::size_t>(p.rows) * kColumns;
    for (std::size_t i = 0; i < dq.size(); ++i) {
      const auto column = static_cast<int>(i % kColumns);
      const int row = static_cast<int>(i / kColumns) % p.seq_q, head = static_cast<int>(i / kColumns) / p.seq_q;
      const int block = (head * p.rows + row) / 16 * (kColumns / 8) + column / 8;
      const int lane = row % 8 * 4 + column % 8 / 2, register_number = row % 16 / 8 * 2 + column % 2;
      const auto place = static_cast<std::size_t>((block * kWarpSize + lane) * 4 + register_number);
      const int seen = p.causal ? std::min(apart, row / backward_keys(kColumns) + 1) : apart;
      float sum = 0;
      for (int tile = 0; tile < seen; ++tile) {
        sum += sums[static_cast<std::size_t>(tile) * of_tile + place];
      }
      dq[i] = Element(sum * p.scale);
    }
  }
};

}  // namespace tbench::kernels::sm90

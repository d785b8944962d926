// The 16-bit attention kernels, compiled for the emulator: one problem, its results compared with the reference.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "attention/backward_16bit.cuh"
#include "attention/forward_16bit.cuh"
#include "attention_reference.hpp"
#include "compare_outputs.hpp"
#include "emulated/emulator.hpp"

namespace tbench::kernels {

constexpr std::int64_t kHeads = 2;

struct Lengths {
  int q{}, kv{};
  bool causal{};
};

/// One sequence of two heads, bf16, contiguous, and what the kernels make of it.
template <int kHeadDim>
class EmulatedAttention {
  using Element = __nv_bfloat16;

 public:
  EmulatedAttention(const Lengths& lengths, std::uint32_t seed)
      : lengths_{lengths},
        seed_{seed},
        problem_{.shape = {.batch = 1,
                           .heads = kHeads,
                           .seq_q = lengths.q,
                           .seq_kv = lengths.kv,
                           .head_dim = kHeadDim,
                           .causal = lengths.causal},
                 .precision = Precision::kBf16,
                 .scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim))},
        q_{normal(lengths.q)},
        k_{normal(lengths.kv)},
        v_{normal(lengths.kv)},
        grad_o_{normal(lengths.q)},
        reference_{attention_reference(problem_, view(q_), view(k_), view(v_), view(grad_o_), Executor::kHost)} {}

  /// Of another order of the warps.
  void next_order() { ++seed_; }

  /// o, lse.
  template <class Tile>
  std::vector<Comparison> forward() {
    constexpr ForwardTile kTile = Tile::tile(kHeadDim);
    std::vector<Element> o = nothing(lengths_.q);
    std::vector<float> lse(rows(lengths_.q), NAN);
    const ForwardParameters<Element> parameters{.q = matrix<const Element>(q_),
                                                .k = matrix<const Element>(k_),
                                                .v = matrix<const Element>(v_),
                                                .o = matrix<Element>(o),
                                                .lse = lse.data(),
                                                .heads = static_cast<int>(kHeads),
                                                .seq_q = lengths_.q,
                                                .seq_kv = lengths_.kv,
                                                .scale = problem_.scale,
                                                .causal = lengths_.causal};
    run(forward_launch(problem_.shape, kTile), [&](char* memory) {
      ForwardBlock<Element, kHeadDim, Tile>{parameters, memory}.run();
    });
    return {compare("o", lengths_.q, kHeadDim, o, reference_.o), compare("lse", lengths_.q, 1, lse, reference_.lse)};
  }

  /// dq, dk, dv.
  std::vector<Comparison> backward(BackwardMethod method) {
    std::vector<Element> dq = nothing(lengths_.q), dk = nothing(lengths_.kv), dv = nothing(lengths_.kv);
    const bool atomic = method == BackwardMethod::kAtomic;
    const int query_blocks = (lengths_.q + kBackwardHelperRows - 1) / kBackwardHelperRows * (kBackwardHelperRows / 16);
    std::vector<float> sums(static_cast<std::size_t>(kHeads * query_blocks * 16 * kHeadDim), 0.0f);
    const std::vector<float> lse = row_sums_logarithms(atomic ? kLog2E : 1.0f), delta = row_products_of_o();
    const BackwardTile split = SplitBackward::tile(kHeadDim);
    const BackwardParameters<Element> parameters{.q = matrix<const Element>(q_),
                                                 .k = matrix<const Element>(k_),
                                                 .v = matrix<const Element>(v_),
                                                 .o = {},
                                                 .grad_o = matrix<const Element>(grad_o_),
                                                 .lse = lse.data(),
                                                 .delta = delta.data(),
                                                 .dq = matrix<Element>(dq),
                                                 .dk = matrix<Element>(dk),
                                                 .dv = matrix<Element>(dv),
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
    run(backward_launch(problem_, tile, method), [&](char* memory) {
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
    return {compare("dq", lengths_.q, kHeadDim, dq, reference_.dq),
            compare("dk", lengths_.kv, kHeadDim, dk, reference_.dk),
            compare("dv", lengths_.kv, kHeadDim, dv, reference_.dv)};
  }

 private:
  static std::size_t rows(int length) { return static_cast<std::size_t>(kHeads * length); }
  static std::vector<Element> nothing(int length) {
    return std::vector<Element>(rows(length) * kHeadDim, Element(NAN));
  }

  std::vector<Element> normal(int length) {
    std::normal_distribution<float> distribution;
    std::vector<Element> elements(rows(length) * kHeadDim);
    for (Element& element : elements) element = Element(distribution(random_));
    return elements;
  }

  static TensorView view(std::vector<Element>& elements) {
    const auto head = static_cast<std::int64_t>(elements.size()) / kHeads;
    return {.data = elements.data(), .strides = {kHeads * head, head, kHeadDim}};
  }
  template <class T>
  static Matrix<T> matrix(std::vector<Element>& elements) {
    return matrix_of<T>(view(elements));
  }

  /// As the kernel before the products leaves them.
  std::vector<float> row_sums_logarithms(float factor) const {
    std::vector<float> lse;
    for (const Uncertain& one : reference_.lse) lse.push_back(static_cast<float>(one.value) * factor);
    return lse;
  }
  std::vector<float> row_products_of_o() const {
    std::vector<float> delta(rows(lengths_.q));
    for (std::size_t i = 0; i < reference_.o.size(); ++i) {
      const float o = static_cast<float>(Element(static_cast<float>(reference_.o[i].value)));
      delta[i / kHeadDim] += o * static_cast<float>(grad_o_[i]);
    }
    return delta;
  }

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

  template <class Thread>
  void run(const Launch& launch, const Thread& thread) {
    const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const emulator::Index grid{extent(launch.grid.x), extent(launch.grid.y), extent(launch.grid.z)};
    for (unsigned head = 0; head < grid.y; ++head) {
      for (unsigned tile = 0; tile < grid.x; ++tile) {
        emulator::run_block({.block = {tile, head, 0},
                             .grid = grid,
                             .threads = launch.threads,
                             .shared_bytes = launch.shared_bytes,
                             .seed = seed_ + tile,
                             .late_copies = (seed_ + tile) % 2 == 0},
                            thread);
      }
    }
  }

  template <class T>
  static Comparison compare(const std::string& name, int length, int columns, const std::vector<T>& actual,
                            const std::vector<Uncertain>& expected) {
    const std::vector<double> values(actual.begin(), actual.end());
    return compare_outputs(name, {1, kHeads, length, columns}, values, expected);
  }

  Lengths lengths_;
  std::uint32_t seed_;
  std::mt19937 random_{7};
  AttentionProblem problem_;
  std::vector<Element> q_, k_, v_, grad_o_;
  AttentionReference reference_;
};

}  // namespace tbench::kernels

// The sm90 kernels for grouped-query attention, compiled for the emulator: one problem in bf16, its results compared
// with the reference.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "emulated/emulated_sm90.hpp"
#include "kernels/attention/sm90/bwd_persistent/kernel.cuh"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"
#include "kernels/attention/sm90/fwd/kernel.cuh"

namespace tbench::kernels::sm90 {

struct GqaExtents {
  int batch{}, heads{}, kv_heads{}, seq{};
  bool causal{};
};

/// Contiguous tensors [batch, heads | kv_heads, seq, head_dim], and the runs of kernels over them.
template <int kColumns>
class EmulatedGqa {
  using Element = __nv_bfloat16;

 public:
  EmulatedGqa(const GqaExtents& extents, std::uint32_t seed)
      : seed_{seed},
        shape_{.batch = extents.batch,
               .heads = extents.heads,
               .seq_q = extents.seq,
               .seq_kv = extents.seq,
               .head_dim = kColumns,
               .causal = extents.causal,
               .kv_heads = extents.kv_heads},
        problem_{
            .shape = shape_, .precision = Precision::kBf16, .scale = 1.0f / std::sqrt(static_cast<float>(kColumns))},
        q_{normal(shape_.heads)},
        k_{normal(shape_.key_heads())},
        v_{normal(shape_.key_heads())},
        grad_o_{normal(shape_.heads)},
        reference_{attention_reference(problem_, queries(q_), keys(k_), keys(v_), queries(grad_o_), Executor::kHost)} {}

  /// Changes the order of the warps in the next runs.
  void next_order() { ++seed_; }

  /// Compares o and lse, with at most `blocks` CTAs.
  template <class Tile>
  std::vector<Comparison> forward(int blocks) {
    std::vector<Element> o = nothing(shape_.heads);
    std::vector<float> lse(rows(), NAN);
    GqaFwdParams p{};
    p.q = map(queries(q_), kWgmmaM);
    p.k = map(keys(k_), Tile::tile().cols);
    p.v = map(keys(v_), Tile::tile().cols);
    p.o = map(queries(o), kWgmmaM);
    p.lse = lse.data();
    p.heads = extent(shape_.heads);
    p.seq_q = p.seq_kv = extent(shape_.seq_q);
    p.scale = problem_.scale;
    p.causal = shape_.causal;
    p.order = forward_order(shape_, sm90::rows(Tile::tile()), shape_.causal);
    p.divisors = forward_divisors(p.order, shape_);
    p.stored_o = queries(o);
    p.group = make_fast_divmod(extent(shape_.group()));
    run(forward_launch(shape_, Tile::tile(), {.multiprocessors = blocks}),
        [&](char* memory) { forward_block<Element, kColumns, Tile>(p, memory); });
    return {compare("o", shape_.heads, kColumns, o, reference_.o),
            compare("lse", shape_.heads, 1, lse, reference_.lse)};
  }

  /// Compares dq, dk and dv.
  /// @param blocks  most CTAs of the persistent kernel
  template <BwdSchedule kBlocks, DqAccumulation kSums>
  std::vector<Comparison> backward(int blocks, int parts) {
    const BwdPlan choice{.blocks = kBlocks, .sums = kSums, .parts = parts};
    const BwdWorkspace workspace = backward_workspace(shape_, choice);
    std::vector<float> sums(workspace.sums_bytes / sizeof(float), kSums == DqAccumulation::kAtomic ? 0.0f : NAN);
    std::vector<float> dk_sums(workspace.kv_sums_bytes / sizeof(float), NAN), dv_sums = dk_sums;
    const std::vector<float> lse = padded(this->lse(), workspace.rows, -1 / problem_.scale, -INFINITY);
    const std::vector<float> delta = padded(row_products(), workspace.rows, -1, 0);
    std::vector<Element> dq = nothing(shape_.heads), dk = nothing(shape_.key_heads()), dv = dk;
    const auto launch = [&](auto& p) {
      p.q = backward_map(queries(q_), backward_tile(kColumns).queries);
      p.k = backward_map(keys(k_), kWgmmaM);
      p.v = backward_map(keys(v_), kWgmmaM);
      p.grad_o = backward_map(queries(grad_o_), backward_tile(kColumns).queries);
      p.lse = lse.data();
      p.delta = delta.data();
      p.dq_sums = sums.data();
      p.heads = extent(shape_.key_heads()) * parts;
      p.batch_heads = p.heads * extent(shape_.batch);
      p.seq_q = p.seq_kv = extent(shape_.seq_q);
      p.rows = extent(workspace.rows);
      p.scale = problem_.scale;
      p.causal = shape_.causal;
      p.group = extent(shape_.group()) / parts;
      p.parts = make_fast_divmod(parts);
      p.dk_sums = parts > 1 ? dk_sums.data() : nullptr;
      p.dv_sums = parts > 1 ? dv_sums.data() : nullptr;
      p.kv_rows = extent(workspace.kv_rows);
      run(backward_launch(shape_, kBlocks, {.multiprocessors = blocks}, parts), [&](char* memory) {
        if constexpr (kBlocks == BwdSchedule::kPersistent) {
          backward_block<Element, kColumns, kSums>(p, memory);
        } else {
          one_item_block<Element, kColumns>(p, memory);
        }
      });
    };
    if constexpr (kBlocks == BwdSchedule::kPersistent) {
      GqaPersistentParams p{};
      p.dk = keys(dk);
      p.dv = keys(dv);
      p.order = staying_order(shape_, parts);
      launch(p);
    } else {
      GqaTileParams p{};
      p.dk = backward_map(keys(dk), kWgmmaM);
      p.dv = backward_map(keys(dv), kWgmmaM);
      p.order = backward_order(shape_, parts);
      launch(p);
    }
    const int apart = kSums == DqAccumulation::kPerKvTile ? backward_order(shape_).tiles : 1;
    take_sums(dq, sums, workspace.rows, apart, problem_.scale, shape_.causal);
    if (parts > 1) {
      take_sums(dk, dk_sums, workspace.kv_rows, parts, problem_.scale, false);
      take_sums(dv, dv_sums, workspace.kv_rows, parts, 1.0f, false);
    }
    return {compare("dq", shape_.heads, kColumns, dq, reference_.dq),
            compare("dk", shape_.key_heads(), kColumns, dk, reference_.dk),
            compare("dv", shape_.key_heads(), kColumns, dv, reference_.dv)};
  }

 private:
  static int extent(std::int64_t value) { return static_cast<int>(value); }
  [[nodiscard]] std::size_t rows() const {
    return static_cast<std::size_t>(shape_.batch * shape_.heads * shape_.seq_q);
  }

  [[nodiscard]] std::size_t elements(std::int64_t heads) const {
    return static_cast<std::size_t>(shape_.batch * heads * shape_.seq_q * kColumns);
  }
  [[nodiscard]] std::vector<Element> nothing(std::int64_t heads) const {
    return std::vector<Element>(elements(heads), Element(NAN));
  }
  std::vector<Element> normal(std::int64_t heads) {
    std::normal_distribution<float> distribution;
    std::vector<Element> values(elements(heads));
    for (Element& value : values) value = Element(distribution(random_));
    return values;
  }

  TensorView view(std::vector<Element>& elements, std::int64_t heads) const {
    const std::int64_t head = shape_.seq_q * kColumns;
    return {.data = elements.data(), .strides = {heads * head, head, kColumns}};
  }
  TensorView queries(std::vector<Element>& elements) const { return view(elements, shape_.heads); }
  TensorView keys(std::vector<Element>& elements) const { return view(elements, shape_.key_heads()); }

  CUtensorMap map(const TensorView& view, int box_rows) const {
    return emulated_map<kColumns>(view, extent(shape_.seq_q), box_rows);
  }
  CUtensorMap backward_map(const TensorView& view, int box_rows) const {
    return emulated_map<kColumns, 2, backward_panel_columns(kColumns)>(view, extent(shape_.seq_q), box_rows);
  }

  [[nodiscard]] std::vector<float> lse() const {
    std::vector<float> lse;
    for (const Uncertain& one : reference_.lse) lse.push_back(static_cast<float>(one.value));
    return lse;
  }
  /// Returns delta as the preprocess kernel computes it.
  [[nodiscard]] std::vector<float> row_products() const {
    std::vector<float> delta(rows());
    for (std::size_t i = 0; i < reference_.o.size(); ++i) {
      const Element o{static_cast<float>(reference_.o[i].value)};
      delta[i / kColumns] += static_cast<float>(o) * static_cast<float>(grad_o_[i]);
    }
    return delta;
  }
  /// Returns the values per query, multiplied by `factor` and padded with `rest` to `padded_rows` per head.
  [[nodiscard]] std::vector<float> padded(const std::vector<float>& values, std::int64_t padded_rows, float factor,
                                          float rest) const {
    const auto length = static_cast<std::size_t>(shape_.seq_q), padded_length = static_cast<std::size_t>(padded_rows);
    std::vector<float> all(values.size() / length * padded_length, rest);
    for (std::size_t i = 0; i < values.size(); ++i) all[i / length * padded_length + i % length] = values[i] * factor;
    return all;
  }

  /// Adds `apart` sets of sums in the layout of accumulators, as the kernels behind the main kernel do. Under a mask, a
  /// query has sums only of the K/V tiles that it sees.
  void take_sums(std::vector<Element>& results, const std::vector<float>& sums, std::int64_t padded_rows, int apart,
                 float scale, bool causal) const {
    const auto padded_length = static_cast<std::size_t>(padded_rows), length = static_cast<std::size_t>(shape_.seq_q);
    const std::size_t of_set = results.size() / length * padded_length;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::size_t column = i % kColumns, row = i / kColumns % length, head = i / kColumns / length;
      const std::size_t block = (head * padded_length + row) / 16 * (kColumns / 8) + column / 8;
      const std::size_t lane = row % 8 * 4 + column % 8 / 2, place = row % 16 / 8 * 2 + column % 2;
      const int seen = causal ? std::min(apart, static_cast<int>(row) / kBackwardKeys + 1) : apart;
      float sum = 0;
      for (int set = 0; set < seen; ++set) {
        sum += sums[static_cast<std::size_t>(set) * of_set + (block * kWarpSize + lane) * 4 + place];
      }
      results[i] = Element(sum * scale);
    }
  }

  template <class Thread>
  void run(const Launch& launch, const Thread& thread) {
    const emulator::Index grid{static_cast<unsigned>(launch.grid.x), 1, 1};
    for (unsigned block = 0; block < grid.x; ++block) {
      emulator::run_block({.block = {block, 0, 0},
                           .grid = grid,
                           .threads = launch.threads,
                           .shared_bytes = launch.shared_bytes,
                           .seed = seed_ + block,
                           .late_copies = (seed_ + block) % 2 == 0},
                          thread);
    }
  }

  template <class T>
  Comparison compare(const std::string& name, std::int64_t heads, std::int64_t columns, const std::vector<T>& actual,
                     const std::vector<Uncertain>& expected) const {
    const std::vector<double> values(actual.begin(), actual.end());
    return compare_outputs(name, {shape_.batch, heads, shape_.seq_q, columns}, values, expected);
  }

  std::uint32_t seed_;
  std::mt19937 random_{7};
  AttentionShape shape_;
  AttentionProblem problem_;
  std::vector<Element> q_, k_, v_, grad_o_;
  AttentionReference reference_;
};

}  // namespace tbench::kernels::sm90

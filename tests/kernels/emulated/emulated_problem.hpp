// One attention problem for the emulator: its inputs, the reference, and the runs of CTAs over it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "emulated/emulator.hpp"
#include "emulated/exact_head.hpp"
#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/bwd/config.hpp"
#include "kernels/attention/sm80/fwd/params.cuh"
#include "support/attention_reference.hpp"
#include "support/compare_outputs.hpp"

namespace tbench::kernels {

constexpr std::int64_t kHeads = 2;

struct Lengths {
  int q{}, kv{};
  bool causal{};
  bool vectors{true};  // false: element by element, as if rows did not start on 16-byte boundaries
};

/// One contiguous sequence of two heads, and the data that every run of kernels on it needs. This is the base of the
/// classes that run the kernels.
template <class Element, int kColumns>
class EmulatedProblem {
 public:
  static constexpr int kHeadDim = kColumns;

  EmulatedProblem(Precision precision, const Lengths& lengths, std::uint32_t seed)
      : lengths_{lengths},
        seed_{seed},
        problem_{.shape = {.batch = 1,
                           .heads = kHeads,
                           .seq_q = lengths.q,
                           .seq_kv = lengths.kv,
                           .head_dim = kHeadDim,
                           .causal = lengths.causal},
                 .precision = precision,
                 .scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim))},
        q_{normal(lengths.q)},
        k_{normal(lengths.kv)},
        v_{normal(lengths.kv)},
        grad_o_{normal(lengths.q)},
        reference_{attention_reference(problem_, view(q_), view(k_), view(v_), view(grad_o_), Executor::kHost)} {}

  /// Changes the order of the warps in the next runs.
  void next_order() { ++seed_; }

  // Set elements of the first head in column 0; the reference keeps the old elements.
  void set_query(int row, float value) { q_[static_cast<std::size_t>(row * kHeadDim)] = Element(value); }
  void set_key(int row, float value) { k_[static_cast<std::size_t>(row * kHeadDim)] = Element(value); }
  void set_value(int row, float value) { v_[static_cast<std::size_t>(row * kHeadDim)] = Element(value); }
  void set_grad_o(int row, float value) { grad_o_[static_cast<std::size_t>(row * kHeadDim)] = Element(value); }

  /// Computes the first head for its present elements. Backward passes read its o and lse from then on.
  const ExactHead& use_exact_head() {
    exact_ = exact_head({.q = of_first_head(q_),
                         .k = of_first_head(k_),
                         .v = of_first_head(v_),
                         .grad_o = of_first_head(grad_o_),
                         .columns = kHeadDim,
                         .scale = problem_.scale});
    return exact_;
  }
  /// Gradients of the first head in the last backward pass.
  [[nodiscard]] ExactHead gradients_of_first_head() const {
    return {.o = {},
            .lse = {},
            .dq = of_first_head(gradients_.dq),
            .dk = of_first_head(gradients_.dk),
            .dv = of_first_head(gradients_.dv)};
  }

  /// Returns a row of o in the first head, not causal, from the last forward pass. The next function computes it in
  /// float64.
  [[nodiscard]] std::vector<double> row_of_o(int row) const {
    return {o_.begin() + row * kHeadDim, o_.begin() + (row + 1) * kHeadDim};
  }
  [[nodiscard]] std::vector<double> exact_row_of_o(int row) const {
    std::vector<double> weights, sums(kHeadDim);
    for (int key = 0; key < lengths_.kv; ++key) {
      double score = 0;
      for (int d = 0; d < kHeadDim; ++d) score += at(q_, row, d) * at(k_, key, d);
      weights.push_back(score * static_cast<double>(problem_.scale));
    }
    double highest = -INFINITY, total = 0;
    for (const double score : weights) highest = std::isnan(score) ? score : std::max(score, highest);
    for (double& weight : weights) total += weight = std::exp(weight - highest);
    for (int key = 0; key < lengths_.kv; ++key) {
      for (int d = 0; d < kHeadDim; ++d) sums[d] += weights[key] / total * at(v_, key, d);
    }
    return sums;
  }

 protected:
  static std::size_t rows(int length) { return static_cast<std::size_t>(kHeads * length); }
  static std::vector<Element> nothing(int length) {
    return std::vector<Element>(rows(length) * kHeadDim, Element(NAN));
  }

  static TensorView view(std::vector<Element>& elements) {
    const auto head = static_cast<std::int64_t>(elements.size()) / kHeads;
    return {.data = elements.data(), .strides = {kHeads * head, head, kHeadDim}};
  }
  template <class T>
  GlobalMatrix<T> matrix(std::vector<Element>& elements) const {
    GlobalMatrix<T> matrix = matrix_of<T>(view(elements));
    matrix.vectors = matrix.vectors && lengths_.vectors;
    return matrix;
  }

  /// Compares o and lse of the CTAs that run_block(parameters, shared memory) runs; with split keys also of the CTAs
  /// that combine(parameters) runs.
  template <class RunBlock>
  std::vector<Comparison> run_forward(const Launch& launch, const RunBlock& run_block, sm80::SplitKv parts = {},
                                      const std::function<void(const sm80::FwdParams<Element>&)>& combine = {}) {
    std::vector<std::byte> workspace(sm80::forward_workspace(problem_.shape, parts).bytes(), std::byte{0xff});
    std::vector<Element> o = nothing(lengths_.q);
    std::vector<float> lse(rows(lengths_.q), NAN);
    auto parameters = sm80::forward_parameters<Element>(
        problem_,
        {.q = view(q_), .k = view(k_), .v = view(v_), .o = view(o), .lse = lse.data(), .workspace = workspace.data()},
        parts);
    for (bool* const vectors :
         {&parameters.q.vectors, &parameters.k.vectors, &parameters.v.vectors, &parameters.o.vectors}) {
      *vectors = *vectors && lengths_.vectors;
    }
    run(launch, [&](char* memory) { run_block(parameters, memory); });
    if (parts.keys > 0) run(sm80::forward_combine_launch(problem_.shape), [&](char*) { combine(parameters); });
    return compare_forward(o, lse);
  }
  std::vector<Comparison> compare_forward(const std::vector<Element>& o, const std::vector<float>& lse) {
    o_.assign(o.begin(), o.end());
    return {compare("o", lengths_.q, kHeadDim, o, reference_.o), compare("lse", lengths_.q, 1, lse, reference_.lse)};
  }

  struct Gradients {
    std::vector<Element> dq, dk, dv;
  };
  Gradients no_gradients() const { return {nothing(lengths_.q), nothing(lengths_.kv), nothing(lengths_.kv)}; }

  /// Parameters of the backward kernels of both widths, except for the forward pass's results and delta.
  template <class Parameters>
  Parameters backward_parameters(Gradients& gradients, int kept_rows) {
    Parameters parameters{};
    parameters.q = matrix<const Element>(q_);
    parameters.k = matrix<const Element>(k_);
    parameters.v = matrix<const Element>(v_);
    parameters.grad_o = matrix<const Element>(grad_o_);
    parameters.dq = matrix<Element>(gradients.dq);
    parameters.dk = matrix<Element>(gradients.dk);
    parameters.dv = matrix<Element>(gradients.dv);
    parameters.heads = static_cast<int>(kHeads);
    parameters.seq_q = lengths_.q;
    parameters.seq_kv = lengths_.kv;
    parameters.kv_tiles = static_cast<int>(block_count(lengths_.kv, kept_rows));
    parameters.scale = problem_.scale;
    parameters.causal = lengths_.causal;
    return parameters;
  }
  std::vector<Comparison> compare_backward(const Gradients& gradients) {
    gradients_ = gradients;
    return {compare("dq", lengths_.q, kHeadDim, gradients.dq, reference_.dq),
            compare("dk", lengths_.kv, kHeadDim, gradients.dk, reference_.dk),
            compare("dv", lengths_.kv, kHeadDim, gradients.dv, reference_.dv)};
  }

  /// Returns o as the forward pass stores it for the backward pass.
  std::vector<Element> stored_o() const {
    std::vector<Element> o;
    for (const Uncertain& one : reference_.o) o.push_back(Element(static_cast<float>(one.value)));
    std::transform(exact_.o.begin(), exact_.o.end(), o.begin(),
                   [](double x) { return Element(static_cast<float>(x)); });
    return o;
  }
  std::vector<float> lse(float factor = 1.0f) const {
    std::vector<float> lse;
    for (const Uncertain& one : reference_.lse) lse.push_back(static_cast<float>(one.value) * factor);
    std::transform(exact_.lse.begin(), exact_.lse.end(), lse.begin(),
                   [factor](double x) { return static_cast<float>(x) * factor; });
    return lse;
  }
  /// Returns delta as the preprocess kernel computes it.
  std::vector<float> row_products_of_o() const {
    const std::vector<Element> o = stored_o();
    std::vector<float> delta(rows(lengths_.q));
    for (std::size_t i = 0; i < o.size(); ++i) {
      delta[i / kHeadDim] += static_cast<float>(o[i]) * static_cast<float>(grad_o_[i]);
    }
    return delta;
  }
  /// Returns the values per query, multiplied by `factor` and padded with `rest` to `rows` per head.
  std::vector<float> padded(const std::vector<float>& values, std::int64_t rows, float factor, float rest) const {
    std::vector<float> all(static_cast<std::size_t>(kHeads * rows), rest);
    const auto length = static_cast<std::size_t>(lengths_.q), padded_length = static_cast<std::size_t>(rows);
    for (std::size_t i = 0; i < values.size(); ++i) all[i / length * padded_length + i % length] = values[i] * factor;
    return all;
  }

  template <class Thread>
  void run(const Launch& launch, const Thread& thread) {
    const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const emulator::Index grid{extent(launch.grid.x), extent(launch.grid.y), extent(launch.grid.z)};
    for (unsigned part = 0; part < grid.z; ++part) {
      for (unsigned head = 0; head < grid.y; ++head) {
        for (unsigned tile = 0; tile < grid.x; ++tile) {
          emulator::run_block({.block = {tile, head, part},
                               .grid = grid,
                               .threads = launch.threads,
                               .shared_bytes = launch.shared_bytes,
                               .seed = seed_ + tile,
                               .late_copies = (seed_ + tile) % 2 == 0},
                              thread);
        }
      }
    }
  }

 private:
  template <class T>
  static Comparison compare(const std::string& name, int length, int columns, const std::vector<T>& actual,
                            const std::vector<Uncertain>& expected) {
    const std::vector<double> values(actual.begin(), actual.end());
    return compare_outputs(name, {1, kHeads, length, columns}, values, expected);
  }

  static double at(const std::vector<Element>& elements, int row, int column) {
    return static_cast<double>(static_cast<float>(elements[static_cast<std::size_t>(row * kHeadDim + column)]));
  }

  static std::vector<double> of_first_head(const std::vector<Element>& elements) {
    std::vector<double> head;
    for (std::size_t i = 0; i < elements.size() / kHeads; ++i)
      head.push_back(static_cast<double>(static_cast<float>(elements[i])));
    return head;
  }

  std::vector<Element> normal(int length) {
    std::normal_distribution<float> distribution;
    std::vector<Element> elements(rows(length) * kHeadDim);
    for (Element& element : elements) element = Element(distribution(random_));
    return elements;
  }

 protected:
  Lengths lengths_;
  std::uint32_t seed_;
  std::mt19937 random_{7};
  AttentionProblem problem_;
  std::vector<Element> q_, k_, v_, grad_o_;
  AttentionReference reference_;
  std::vector<double> o_;  // o of the last forward pass
  Gradients gradients_;    // gradients of the last backward pass
  ExactHead exact_;        // empty: o and lse come from the reference
};

}  // namespace tbench::kernels

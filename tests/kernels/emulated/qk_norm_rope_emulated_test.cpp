// The kernels of the norms of q and k with rope, compiled for the emulator: their results compared with float64
// formulas, with few CTAs, so that a CTA takes several rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention/common/ptx.cuh"  // the emulator's
#include "qk_norm_rope/reference.hpp"

#undef __shared__
#define __shared__ static  // CTAs run one after the other

namespace tbench::kernels {

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }

}  // namespace tbench::kernels

#include "kernels/qk_norm_rope/backward.cuh"
#include "kernels/qk_norm_rope/forward.cuh"

namespace tbench::kernels {
namespace {

template <class Element>
std::vector<Element> narrow(const Doubles& values) {
  std::vector<Element> narrowed;
  for (const double value : values) narrowed.push_back(from_float<Element>(static_cast<float>(value)));
  return narrowed;
}

template <class Element>
Doubles wide(const std::vector<Element>& values) {
  Doubles widened;
  for (const Element value : values) widened.push_back(static_cast<double>(to_float(value)));
  return widened;
}

template <class Thread>
void run_blocks(unsigned blocks, int threads, const Thread& thread) {
  for (unsigned block = 0; block < blocks; ++block) {
    emulator::run_block({.block = {block},
                         .grid = {blocks},
                         .threads = threads,
                         .shared_bytes = 0,
                         .seed = block,
                         .late_copies = false},
                        [&](char*) { thread(); });
  }
}

/// The operands of both passes in the storage type, and the results.
template <class Element, int kWidth, int kVectors>
class Emulated {
 public:
  Emulated(const QkExtents& e, Precision precision)
      : e_{e}, precision_{precision}, inputs_{qk_inputs(e, precision)}, x_{narrow<Element>(inputs_.x)} {}

  /// Compares y, dx and the gradients of both weights, in place or not.
  void expect_close_results(bool in_place) {
    const HeadExtents extents = head_extents(shape_of(e_, precision_), kWidth);
    std::vector<Element> x = x_, dy = narrow<Element>(inputs_.dy);
    std::vector<Element> y(x.size(), from_float<Element>(NAN)), dx = y;
    std::vector<Element>&to_y = in_place ? x : y, &to_dx = in_place ? dy : dx;
    const QkNormRopeForward forward{.constants = constants(), .x = heads(x), .y = heads(to_y)};
    const std::int64_t threads = e_.tokens * e_.all_heads() * extents.lanes;
    run_blocks(static_cast<unsigned>((threads + kQkForwardThreads - 1) / kQkForwardThreads), kQkForwardThreads,
               [&] { qk_norm_rope_forward_kernel<Element, kWidth, kVectors>(forward, extents); });
    constexpr unsigned kBlocks = 2;
    std::vector<float> workspace(kBlocks * 2 * static_cast<std::size_t>(e_.head_dim), NAN);
    std::vector<Element> raw = x_;
    const QkNormRopeBackward backward{
        .constants = constants(), .x = heads(raw), .dy = heads(dy), .dx = heads(to_dx), .workspace = workspace.data()};
    run_blocks(kBlocks, kQkBackwardThreads,
               [&] { qk_norm_rope_backward_kernel<Element, kWidth, kVectors>(backward, extents); });
    const std::vector<QkResult> expected = QkReference{e_, precision_, inputs_, in_place}.results();
    const std::vector<Doubles> actual{wide(to_y), wide(to_dx), sum_of_shares(workspace, 0),
                                      sum_of_shares(workspace, 1)};
    for (std::size_t i = 0; i < actual.size(); ++i) {
      expect_close(expected[i].name, actual[i], expected[i].values,
                   [&](std::size_t at) { return expected[i].allowed[at]; });
    }
  }

 private:
  [[nodiscard]] QkHeads heads(std::vector<Element>& array) const {
    return {.data = array.data(), .stride = e_.stride()};
  }
  [[nodiscard]] QkNormRopeConstants constants() const {
    return {.q_weight = q_weight_.data(), .k_weight = k_weight_.data(), .cos = cos_.data(), .sin = sin_.data()};
  }
  /// @param weight  0 for q's weight, 1 for k's
  [[nodiscard]] Doubles sum_of_shares(const std::vector<float>& workspace, std::size_t weight) const {
    const auto width = static_cast<std::size_t>(e_.head_dim);
    Doubles sums(width);
    for (std::size_t i = 0; i < workspace.size(); ++i) {
      if (i / width % 2 == weight) sums[i % width] += static_cast<double>(workspace[i]);
    }
    return sums;
  }

  QkExtents e_;
  Precision precision_;
  QkInputs inputs_;
  std::vector<Element> x_;
  std::vector<float> q_weight_{narrow<float>(inputs_.q_weight)}, k_weight_{narrow<float>(inputs_.k_weight)};
  std::vector<float> cos_{narrow<float>(inputs_.cos)}, sin_{narrow<float>(inputs_.sin)};
};

template <class Element, int kWidth, int kVectors>
void expect_right(Precision precision, const std::vector<QkExtents>& all) {
  for (const QkExtents& e : all) {
    SCOPED_TRACE(e.head_dim);
    for (const bool in_place : {false, true})
      Emulated<Element, kWidth, kVectors>{e, precision}.expect_close_results(in_place);
  }
}

TEST(QkNormRopeEmulated, InVectors) {
  // The last head_dim that each type has in vectors, and head_dims that leave threads of a row idle.
  expect_right<__nv_bfloat16, 8, 1>(Precision::kBf16,
                                    {{10, 5, 4, 2, 64, 128}, {33, 33, 3, 1, 80, 80}, {8, 4, 2, 1, 256}});
  expect_right<__half, 8, 1>(Precision::kFp16, {{14, 7, 6, 2, 96, 8}});
  expect_right<float, 4, 1>(Precision::kFp32, {{9, 3, 5, 5, 128}, {6, 3, 2, 1, 16}});
}

TEST(QkNormRopeEmulated, PairByPair) {
  expect_right<__nv_bfloat16, 2, 4>(Precision::kBf16, {{1, 1, 1, 1, 2}, {12, 6, 4, 2, 22}, {5, 5, 2, 2, 254, 2}});
  expect_right<float, 2, 4>(Precision::kFp32, {{8, 4, 2, 1, 6, 2}, {8, 4, 2, 1, 256}});
}

}  // namespace
}  // namespace tbench::kernels

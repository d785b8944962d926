// The forward kernel: a row stays in registers from its only load to its only store, while the next rows are loaded.
#pragma once

#include "kernels/rmsnorm/norm_rows.cuh"

namespace tbench::kernels {

/// Forward pass of the norm. Dynamic shared memory holds the slots of x, then the slots of the branch.
template <class Stream, class Branch, class Weight, int kWidth, int kElements>
__global__ void __launch_bounds__(norm_max_threads(kElements), 1)
    rmsnorm_forward_kernel(const __grid_constant__ NormForward tensors, std::int64_t rows, int width,
                           int threads_of_row, float epsilon) {
  constexpr int kVectors = kElements / kWidth, kAhead = norm_rows_ahead(NormPass::kForward, kWidth, kElements);
  __shared__ float partials[2][kNormMaxWarps];
  extern __shared__ __align__(kVectorBytes) char slots[];
  char* shared = slots;
  const NormGroup group{threads_of_row};
  const int groups = static_cast<int>(blockDim.x) / threads_of_row;
  const std::int64_t step = std::int64_t{gridDim.x} * groups;
  const bool has_branch = tensors.branch != nullptr;
  const auto column = [&](int i) { return (group.lane + i * threads_of_row) * kWidth; };
  RowVectors<Stream, kWidth, kVectors, kAhead> x{shared};
  RowVectors<Branch, kWidth, kVectors, kAhead> branch{shared};
  WeightVectors<Weight, kWidth, kVectors, (kAhead > 0)> weight{tensors.weight};
  const auto fetch = [&](std::int64_t row, int slot) {
    if (row < rows) {
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        if (column(i) >= width) continue;
        const std::int64_t at = row * width + column(i);
        x.fetch(slot, i, static_cast<const Stream*>(tensors.x) + at);
        const std::int64_t late = injected(InjectedStepFault::kNormBranchRow) && row + 1 < rows ? width : 0;
        if (has_branch) branch.fetch(slot, i, static_cast<const Branch*>(tensors.branch) + at + late);
      }
    }
    if constexpr (kAhead > 0) cp_async_commit_group();
  };
  std::int64_t row = std::int64_t{blockIdx.x} * groups + group.index;
#pragma unroll
  for (int slot = 0; slot < kAhead; ++slot) fetch(row + slot * step, slot);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) < width) weight.fetch(i, column(i));
  }
  const bool is_padded = injected(InjectedStepFault::kNormPaddedWidth);
  const float inverse_width = 1.0F / static_cast<float>(is_padded ? threads_of_row * kElements : width);
  if (injected(InjectedStepFault::kNormEpsilon)) epsilon *= 100;
  int turn = 0, slot = 0;
  for (; row < rows; row += step) {
    const std::int64_t begin = row * width;
    if constexpr (kAhead == 0) {
      fetch(row, 0);
    } else if (!injected(InjectedStepFault::kNormNoWait)) {
      cp_async_wait_group<kAhead - 1>();
    }
    float sums[kVectors][kWidth];
    float squares = 0.0F;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      x.get(slot, i, sums[i]);
      if (has_branch) {
        float terms[kWidth];
        branch.get(slot, i, terms);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) {
          if (!injected(InjectedStepFault::kNormResidual)) sums[i][j] = rounded<Stream>(sums[i][j] + terms[j]);
        }
        if (injected(InjectedStepFault::kNormUnwrittenSum) && column(i) + kWidth >= width) continue;
        store<kWidth>(static_cast<Stream*>(tensors.sum) + begin + column(i), sums[i]);
      }
      if (injected(InjectedStepFault::kNormLastVector) && column(i) + kWidth >= width) continue;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) squares += sums[i][j] * sums[i][j];
    }
    if constexpr (kAhead > 0) {  // the slot has been read
      fetch(row + kAhead * step, slot);
      slot = slot + 1 == kAhead || injected(InjectedStepFault::kNormSlot) ? 0 : slot + 1;
    }
    const float rstd = rsqrtf(group.sum(squares, partials, turn) * inverse_width + epsilon);
    if (tensors.rstd != nullptr && group.lane == 0) tensors.rstd[row] = rstd;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      float normed[kWidth];
      weight.get(i, column(i), normed);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) normed[j] *= sums[i][j] * rstd;
      store<kWidth>(static_cast<Branch*>(tensors.normed) + begin + column(i), normed);
    }
  }
}

}  // namespace tbench::kernels

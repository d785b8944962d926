// The backward kernel, and the sum of its CTAs' shares of the weight gradient. A share is a CTA's sum over its own
// rows.
#pragma once

#include <cooperative_groups.h>

#include "kernels/rmsnorm/norm_rows.cuh"

namespace tbench::kernels {

/// Number of columns of a share that a thread reads at a time and, below, number of adjacent threads, which together
/// read 128 or 32 bytes of a share.
constexpr int share_columns(int width_of_vector) { return width_of_vector == 1 ? 1 : 4; }
inline constexpr int kShareThreads = 8;

/// Computes dweight as the sum of the grid's shares; each share is a row of the workspace. A CTA takes some columns at
/// a time. For each column several threads divide the shares: each of n threads adds every n-th share, in order.
/// @param warps_sums  buffer [blockDim.x / 32, kShareThreads x kColumns] in shared memory
template <class Weight, int kColumns>
__device__ void add_up_shares(const float* workspace, Weight* dweight, int width, float* warps_sums) {
  constexpr int kSet = kShareThreads * kColumns;
  const int thread = static_cast<int>(threadIdx.x), place = thread % kShareThreads * kColumns;
  const int lanes = static_cast<int>(blockDim.x) / kShareThreads, warps = static_cast<int>(blockDim.x) / kWarpThreads;
  for (int first = static_cast<int>(blockIdx.x) * kSet; first < width; first += static_cast<int>(gridDim.x) * kSet) {
    float sums[kColumns] = {};
    if (first + place < width) {
#pragma unroll 4
      for (int i = thread / kShareThreads; i < static_cast<int>(gridDim.x); i += lanes) {
        if (injected(InjectedStepFault::kNormLastShare) && i + 1 == static_cast<int>(gridDim.x)) continue;
        const float* const share = workspace + std::int64_t{i} * width + first + place;
        float terms[kColumns];
        unpack<float, kColumns>(__ldcg(reinterpret_cast<const Word<float, kColumns>*>(share)), terms);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) sums[j] += terms[j];
      }
    }
    __syncthreads();  // now the sums of the previous columns have been read
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      // A warp has four threads per column.
      sums[j] += __shfl_xor_sync(0xffffffffU, sums[j], kShareThreads);
      sums[j] += __shfl_xor_sync(0xffffffffU, sums[j], 2 * kShareThreads);
      if (thread % kWarpThreads < kShareThreads) warps_sums[thread / kWarpThreads * kSet + place + j] = sums[j];
    }
    __syncthreads();
    if (thread >= kSet || first + thread >= width) continue;
    if (injected(InjectedStepFault::kNormLastColumns) && first + kSet >= width) continue;
    float sum = 0.0F;
    for (int warp = 0; warp < warps; ++warp) sum += warps_sums[warp * kSet + thread];
    dweight[first + thread] = from_float<Weight>(sum);
  }
}

/// Backward pass of the norm. Each row is read twice from registers or from its slots: before the row's sum, for which
/// all elements wait, and after it. The weight gradient is a sum over rows: each CTA stores its share in the workspace,
/// and when all CTAs have done so, each CTA adds up some columns. All CTAs therefore have to run at the same time, by a
/// cooperative launch, unless the shares stay in the workspace.
///
/// Dynamic shared memory holds the slots of sum, dsum, dnormed and rstd and, after the last row, float[width] in their
/// place if a CTA has several groups.
template <class Stream, class Branch, class Weight, int kWidth, int kElements>
__global__ void __launch_bounds__(norm_max_threads(kElements), 1)
    rmsnorm_backward_kernel(const __grid_constant__ NormBackward tensors, std::int64_t rows, int width,
                            int threads_of_row) {
  constexpr int kVectors = kElements / kWidth, kAhead = norm_rows_ahead(NormPass::kBackward, kWidth, kElements);
  constexpr int kColumns = share_columns(kWidth);
  __shared__ float partials[2][kNormMaxWarps];
  __shared__ float warps_sums[kNormMaxWarps * kShareThreads * kColumns];
  extern __shared__ __align__(kVectorBytes) char slots[];
  char* shared = slots;
  const NormGroup group{threads_of_row};
  const int groups = static_cast<int>(blockDim.x) / threads_of_row;
  const std::int64_t step = std::int64_t{gridDim.x} * groups;
  const bool has_dsum = tensors.dsum != nullptr && !injected(InjectedStepFault::kNormPast);
  const auto column = [&](int i) { return (group.lane + i * threads_of_row) * kWidth; };
  RowVectors<Stream, kWidth, kVectors, kAhead> sum{shared}, dsum{shared};
  RowVectors<Branch, kWidth, kVectors, kAhead> dnormed{shared};
  RowVectors<float, 1, 1, kAhead> rstds{shared};
  WeightVectors<Weight, kWidth, kVectors, (kAhead > 0)> weight{tensors.weight};
  const auto fetch = [&](std::int64_t row, int slot) {
    if (row < rows) {
      rstds.fetch(slot, 0,
                  tensors.rstd + (injected(InjectedStepFault::kNormRstdRow) && row + 1 < rows ? row + 1 : row));
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        if (column(i) >= width) continue;
        const std::int64_t at = row * width + column(i);
        sum.fetch(slot, i, static_cast<const Stream*>(tensors.sum) + at);
        dnormed.fetch(slot, i, static_cast<const Branch*>(tensors.dnormed) + at);
        if (has_dsum) dsum.fetch(slot, i, static_cast<const Stream*>(tensors.dsum) + at);
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
  const float inverse_width = 1.0F / static_cast<float>(width);
  // Loads n and dnormed of this thread's vector i.
  const auto normed_and_gradient = [&](int slot, int i, float rstd, float(&normed)[kWidth], float(&gradient)[kWidth]) {
    sum.get(slot, i, normed);
    dnormed.get(slot, i, gradient);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) normed[j] *= rstd;
  };
  float dweight[kVectors][kWidth] = {};
  int turn = 0, slot = 0;
  for (; row < rows; row += step) {
    const std::int64_t begin = row * width;
    if constexpr (kAhead == 0) {
      fetch(row, 0);
    } else {
      cp_async_wait_group<kAhead - 1>();
    }
    const float rstd = rstds.get(slot, 0);
    float products = 0.0F;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      float normed[kWidth], gradient[kWidth], of_weight[kWidth];
      normed_and_gradient(slot, i, rstd, normed, gradient);
      weight.get(i, column(i), of_weight);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        dweight[i][j] +=
            gradient[j] * normed[j] * (injected(InjectedStepFault::kNormDweightSlope) ? of_weight[j] : 1.0F);
        products += gradient[j] * of_weight[j] * normed[j];
      }
    }
    const float sum_of_products = group.sum(products, partials, turn);
    const float mean = injected(InjectedStepFault::kNormMean) ? 0.0F : sum_of_products * inverse_width;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      float normed[kWidth], gradient[kWidth], of_weight[kWidth], dx[kWidth] = {};
      normed_and_gradient(slot, i, rstd, normed, gradient);
      weight.get(i, column(i), of_weight);
      if (has_dsum) dsum.get(slot, i, dx);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) dx[j] += rstd * (gradient[j] * of_weight[j] - normed[j] * mean);
      store<kWidth>(static_cast<Stream*>(tensors.dx) + begin + column(i), dx);
      if (injected(InjectedStepFault::kNormUnwrittenBranch) && column(i) + kWidth >= width) continue;
      if (tensors.dbranch != nullptr) store<kWidth>(static_cast<Branch*>(tensors.dbranch) + begin + column(i), dx);
    }
    if constexpr (kAhead > 0) {  // the slot has been read
      fetch(row + kAhead * step, slot);
      slot = slot + 1 == kAhead || injected(InjectedStepFault::kNormBackwardSlot) ? 0 : slot + 1;
    }
  }
  // The groups' sums are added one after the other, so that results are bitwise identical in every run.
  float* const column_sums = reinterpret_cast<float*>(slots);
  for (int next = 1; next < groups; ++next) {
    __syncthreads();
    if (group.index != next) continue;
    if (injected(InjectedStepFault::kNormGroupSum) && next > 1 && next + 1 == groups) continue;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
#pragma unroll
      for (int j = 0; j < kWidth; j += kColumns) {
        float* const of_columns = column_sums + column(i) + j;
        float totals[kColumns] = {};
        if (next > 1) unpack<float, kColumns>(*reinterpret_cast<const Word<float, kColumns>*>(of_columns), totals);
#pragma unroll
        for (int k = 0; k < kColumns; ++k) totals[k] += dweight[i][j + k];
        store<kColumns>(of_columns, totals);
      }
    }
  }
  if (groups > 1) __syncthreads();
  if (group.index == 0) {
    float* const share = tensors.workspace + std::int64_t{blockIdx.x} * width;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
#pragma unroll
      for (int j = 0; j < kWidth; j += kColumns) {
        float totals[kColumns] = {};
        if (groups > 1) {
          unpack<float, kColumns>(*reinterpret_cast<const Word<float, kColumns>*>(column_sums + column(i) + j), totals);
        }
#pragma unroll
        for (int k = 0; k < kColumns; ++k) totals[k] += dweight[i][j + k];
        store<kColumns>(share + column(i) + j, totals);
      }
    }
  }
  if (tensors.dweight == nullptr) return;
  if (!injected(InjectedStepFault::kNormStaleShares)) cooperative_groups::this_grid().sync();
  add_up_shares<Weight, kColumns>(tensors.workspace, static_cast<Weight*>(tensors.dweight), width, warps_sums);
}

inline constexpr int kSharesThreads = 256;

struct NormSharesTable {
  NormShares norms[kNormsOfALaunch];
};

/// Adds up the shares of several norms. A CTA has 32 columns of a norm; each of its n warps adds every n-th share, in
/// order.
template <class Weight>
__global__ void __launch_bounds__(kSharesThreads)
    rmsnorm_weight_gradient_kernel(const __grid_constant__ NormSharesTable table, int shares, int width) {
  constexpr int kWarps = kSharesThreads / kWarpThreads;
  __shared__ float warps_sums[kWarps][kWarpThreads];
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads, warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const int column = static_cast<int>(blockIdx.x) * kWarpThreads + lane;
  const NormShares norm = table.norms[blockIdx.y];
  float sum = 0.0F;
  if (column < width) {
#pragma unroll 8
    for (int i = warp; i < shares; i += kWarps) sum += norm.workspace[std::int64_t{i} * width + column];
  }
  warps_sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || column >= width) return;
  sum = 0.0F;
  for (int i = 0; i < kWarps; ++i) sum += warps_sums[i][lane];
  static_cast<Weight*>(norm.dweight)[column] = from_float<Weight>(sum);
}

}  // namespace tbench::kernels

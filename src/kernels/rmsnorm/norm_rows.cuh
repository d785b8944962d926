// The two kernels on rows. A row's threads hold it in registers from its only load to its only store, and share one
// barrier a row; groups of a block do not wait for each other.
#pragma once

#include <cooperative_groups.h>

#include "kernels/common/vectors.cuh"
#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {

inline constexpr int kNormMaxThreads = 512;
inline constexpr int kNormMaxWarps = kNormMaxThreads / kWarpThreads;
inline constexpr int kSharesThreads = 256;

/// This thread's place: `lane` of the `threads` that hold a row, and the group's warps in the block.
struct NormGroup {
  int index, lane, threads;
  __device__ explicit NormGroup(int threads_of_row)
      : index{static_cast<int>(threadIdx.x) / threads_of_row},
        lane{static_cast<int>(threadIdx.x) % threads_of_row},
        threads{threads_of_row} {}

  /// The sum over the group's threads, in all of them. `partials` alternate between two sets, so that one barrier is
  /// enough: who writes a set again has passed the barrier after which all had read it.
  __device__ float sum(float value, float (&partials)[2][kNormMaxWarps], int& turn) const {
    value = sum_of_warp(value);
    if (threads == kWarpThreads) return value;
    const int warps = threads / kWarpThreads, first = index * warps;
    float* const mine = partials[turn];
    turn ^= 1;
    if (lane % kWarpThreads == 0) mine[first + lane / kWarpThreads] = value;
    wait_for_threads(index + 1, threads);
    const int warp_lane = lane % kWarpThreads;
    return sum_of_warp(warp_lane < warps ? mine[first + warp_lane] : 0.0F);
  }
};

/// One row a group. Few registers, so that 1,536 threads of a multiprocessor have their loads under way.
template <class Stream, class Branch, class Weight, int kWidth, int kElements>
__global__ void __launch_bounds__(kNormMaxThreads, kElements <= 8 ? 3 : 1)
    rmsnorm_forward_kernel(const __grid_constant__ NormForward tensors, std::int64_t rows, int width,
                           int threads_of_row, float epsilon) {
  constexpr int kVectors = kElements / kWidth;
  __shared__ float partials[2][kNormMaxWarps];
  const NormGroup group{threads_of_row};
  const std::int64_t row = std::int64_t{blockIdx.x} * (static_cast<int>(blockDim.x) / threads_of_row) + group.index;
  if (row >= rows) return;
  const std::int64_t begin = row * width;
  const auto column = [&](int i) { return (group.lane + i * threads_of_row) * kWidth; };
  Word<Stream, kWidth> x_words[kVectors];
  Word<Branch, kWidth> branch_words[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    x_words[i] = load_once<kWidth>(static_cast<const Stream*>(tensors.x) + begin + column(i));
    if (tensors.branch != nullptr) {
      branch_words[i] = load_once<kWidth>(static_cast<const Branch*>(tensors.branch) + begin + column(i));
    }
  }
  float sums[kVectors][kWidth];
  float squares = 0.0F;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    unpack<Stream, kWidth>(x_words[i], sums[i]);
    if (tensors.branch != nullptr) {
      float terms[kWidth];
      unpack<Branch, kWidth>(branch_words[i], terms);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) sums[i][j] = rounded<Stream>(sums[i][j] + terms[j]);
      store<kWidth>(static_cast<Stream*>(tensors.sum) + begin + column(i), sums[i]);
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) squares += sums[i][j] * sums[i][j];
  }
  int turn = 0;
  const float rstd = rsqrtf(group.sum(squares, partials, turn) / static_cast<float>(width) + epsilon);
  if (tensors.rstd != nullptr && group.lane == 0) tensors.rstd[row] = rstd;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (column(i) >= width) continue;
    float weight[kWidth];
    unpack<Weight, kWidth>(load_cached<kWidth>(static_cast<const Weight*>(tensors.weight) + column(i)), weight);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) weight[j] *= sums[i][j] * rstd;
    store<kWidth>(static_cast<Branch*>(tensors.normed) + begin + column(i), weight);
  }
}

/// Backward blocks that a multiprocessor holds at once: 64 registers a thread of 512, or 128.
__host__ __device__ constexpr int norm_backward_blocks(int elements) { return elements <= 8 ? 2 : 1; }

/// dweight = the sums over the grid's shares, each a row of the workspace. A block has 8 columns at a time, 32 bytes of
/// each share, and a lane of a column every so many shares, in order.
/// @param warps_sums  [blockDim.x / 32] sets of 8, shared
template <class Weight>
__device__ void add_up_shares(const float* workspace, Weight* dweight, int width, float* warps_sums) {
  constexpr int kColumns = 8;
  const int column_of_set = static_cast<int>(threadIdx.x) % kColumns, lane = static_cast<int>(threadIdx.x) / kColumns;
  const int lanes = static_cast<int>(blockDim.x) / kColumns, warps = static_cast<int>(blockDim.x) / kWarpThreads;
  for (int first = static_cast<int>(blockIdx.x) * kColumns; first < width;
       first += static_cast<int>(gridDim.x) * kColumns) {
    const int column = first + column_of_set;
    float sum = 0.0F;
    if (column < width) {
#pragma unroll 8
      for (int i = lane; i < static_cast<int>(gridDim.x); i += lanes) {
        sum += __ldcg(workspace + std::int64_t{i} * width + column);
      }
    }
    // A warp has four lanes of each column.
    sum += __shfl_xor_sync(0xffffffffU, sum, kColumns);
    sum += __shfl_xor_sync(0xffffffffU, sum, 2 * kColumns);
    __syncthreads();
    if (static_cast<int>(threadIdx.x) % kWarpThreads < kColumns) {
      warps_sums[static_cast<int>(threadIdx.x) / kWarpThreads * kColumns + column_of_set] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= kColumns || column >= width) continue;
    sum = 0.0F;
    for (int warp = 0; warp < warps; ++warp) sum += warps_sums[warp * kColumns + column_of_set];
    dweight[column] = narrowed<Weight>(sum);
  }
}

/// n, g and what a row adds to dweight.
template <class Stream, class Branch, class Weight, int kWidth>
__device__ __forceinline__ void normed_and_slope(const NormBackward& tensors, int at, const Word<Stream, kWidth>& sum,
                                                 const Word<Branch, kWidth>& dnormed, float rstd,
                                                 float (&normed)[kWidth], float (&slope)[kWidth],
                                                 float (&dweight)[kWidth]) {
  float weight[kWidth];
  unpack<Weight, kWidth>(load_cached<kWidth>(static_cast<const Weight*>(tensors.weight) + at), weight);
  unpack<Stream, kWidth>(sum, normed);
  unpack<Branch, kWidth>(dnormed, slope);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    normed[j] *= rstd;
    dweight[j] += slope[j] * normed[j];
    slope[j] *= weight[j];
  }
}

/// A row's words stay in registers, packed, over the sum that all elements wait for: what is made of them is made
/// twice. The weight's gradient is a sum over rows: each block leaves its share in the workspace, and once all have,
/// each adds up some columns. So the blocks have to run all at once: a cooperative launch; unless the shares are to
/// stay.
template <class Stream, class Branch, class Weight, int kWidth, int kElements>
__global__ void __launch_bounds__(kNormMaxThreads, norm_backward_blocks(kElements))
    rmsnorm_backward_kernel(const __grid_constant__ NormBackward tensors, std::int64_t rows, int width,
                            int threads_of_row) {
  constexpr int kVectors = kElements / kWidth;
  __shared__ float partials[2][kNormMaxWarps];
  __shared__ float warps_sums[kNormMaxWarps * 8];
  extern __shared__ float column_sums[];  // [width], where a block has several groups
  const NormGroup group{threads_of_row};
  const int groups = static_cast<int>(blockDim.x) / threads_of_row;
  const auto column = [&](int i) { return (group.lane + i * threads_of_row) * kWidth; };
  int turn = 0;
  float dweight[kVectors][kWidth] = {};
  for (std::int64_t row = std::int64_t{blockIdx.x} * groups + group.index; row < rows;
       row += std::int64_t{gridDim.x} * groups) {
    const std::int64_t begin = row * width;
    Word<Stream, kWidth> sum_words[kVectors], dsum_words[kVectors];
    Word<Branch, kWidth> dnormed_words[kVectors];
    const float rstd = tensors.rstd[row];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      sum_words[i] = load_once<kWidth>(static_cast<const Stream*>(tensors.sum) + begin + column(i));
      dnormed_words[i] = load_once<kWidth>(static_cast<const Branch*>(tensors.dnormed) + begin + column(i));
      if (tensors.dsum != nullptr) {
        dsum_words[i] = load_once<kWidth>(static_cast<const Stream*>(tensors.dsum) + begin + column(i));
      }
    }
    float products = 0.0F;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      float normed[kWidth], slope[kWidth];  // n and g
      normed_and_slope<Stream, Branch, Weight, kWidth>(tensors, column(i), sum_words[i], dnormed_words[i], rstd, normed,
                                                       slope, dweight[i]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) products += slope[j] * normed[j];
    }
    const float mean = group.sum(products, partials, turn) / static_cast<float>(width);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
      make_anew(sum_words[i]);
      make_anew(dnormed_words[i]);
      float normed[kWidth], slope[kWidth], dx[kWidth] = {}, unused[kWidth] = {};
      normed_and_slope<Stream, Branch, Weight, kWidth>(tensors, column(i), sum_words[i], dnormed_words[i], rstd, normed,
                                                       slope, unused);
      if (tensors.dsum != nullptr) unpack<Stream, kWidth>(dsum_words[i], dx);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) dx[j] += rstd * (slope[j] - normed[j] * mean);
      store<kWidth>(static_cast<Stream*>(tensors.dx) + begin + column(i), dx);
      if (tensors.dbranch != nullptr) store<kWidth>(static_cast<Branch*>(tensors.dbranch) + begin + column(i), dx);
    }
  }
  // The groups' sums one after the other: the same bits every time.
  for (int next = 1; next < groups; ++next) {
    __syncthreads();
    if (group.index != next) continue;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (column(i) >= width) continue;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        float& sum = column_sums[column(i) + j];
        sum = next == 1 ? dweight[i][j] : sum + dweight[i][j];
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
      for (int j = 0; j < kWidth; ++j) {
        share[column(i) + j] = groups > 1 ? dweight[i][j] + column_sums[column(i) + j] : dweight[i][j];
      }
    }
  }
  if (tensors.dweight == nullptr) return;
  cooperative_groups::this_grid().sync();
  add_up_shares(tensors.workspace, static_cast<Weight*>(tensors.dweight), width, warps_sums);
}

struct NormSharesTable {
  NormShares norms[kNormsOfALaunch];
};

/// A block has 32 columns of a norm, a warp every so many shares of them, in order.
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
  static_cast<Weight*>(norm.dweight)[column] = narrowed<Weight>(sum);
}

}  // namespace tbench::kernels

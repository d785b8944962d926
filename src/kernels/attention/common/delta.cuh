// delta = rowsum(dO * O), computed by preprocess kernels and, for short sequences, by the backward kernels themselves.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"

namespace tbench::kernels {

/// Returns the dot product of two 16-byte vectors, of 16-bit elements or (below) of floats.
template <class Element>
__device__ __forceinline__ float dot(uint4 x, uint4 y) {
  const std::uint32_t xs[4]{x.x, x.y, x.z, x.w}, ys[4]{y.x, y.y, y.z, y.w};
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 a = unpack<Element>(xs[i]), b = unpack<Element>(ys[i]);
    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
  }
  return sum;
}

template <>
__device__ __forceinline__ float dot<float>(uint4 x, uint4 y) {
  return fmaf(__uint_as_float(x.x), __uint_as_float(y.x), __uint_as_float(x.y) * __uint_as_float(y.y)) +
         fmaf(__uint_as_float(x.z), __uint_as_float(y.z), __uint_as_float(x.w) * __uint_as_float(y.w));
}

/// Writes the dot products of rows [first_row, first_row + kRows) of a head to result[0, kRows); the results of rows
/// from `rows` on are 0. All threads of the CTA take part, kThreads / kRows of them per row, so that all loads of a
/// thread are in flight at once. The caller synchronises.
template <class Element, int kHeadDim, int kRows, int kThreads>
__device__ __forceinline__ void row_dot(const GlobalMatrix<const Element>& x, const GlobalMatrix<const Element>& y,
                                        std::int64_t batch, std::int64_t head, int first_row, int rows, float* result) {
  constexpr int kThreadsPerRow = kThreads / kRows;
  static_assert(kThreadsPerRow * kRows == kThreads && kWarpSize % kThreadsPerRow == 0, "threads of a row share a warp");
  constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));
  constexpr int kVectorsPerRow = kHeadDim / kPerVector;
  const int row = first_row + static_cast<int>(threadIdx.x) / kThreadsPerRow;
  const int part = static_cast<int>(threadIdx.x) % kThreadsPerRow;
  float sum = 0.0f;
  if (row < rows) {
    const Element* const x_row = x.head(batch, head) + row * x.row_stride;
    const Element* const y_row = y.head(batch, head) + row * y.row_stride;
    if (x.vectors && y.vectors) {
#pragma unroll
      for (int i = 0; i < (kVectorsPerRow + kThreadsPerRow - 1) / kThreadsPerRow; ++i) {
        const int vector = i * kThreadsPerRow + part;
        if (kVectorsPerRow % kThreadsPerRow != 0 && vector >= kVectorsPerRow) break;
        sum +=
            dot<Element>(reinterpret_cast<const uint4*>(x_row)[vector], reinterpret_cast<const uint4*>(y_row)[vector]);
      }
    } else {
      for (int i = part; i < kHeadDim; i += kThreadsPerRow) {
        sum += static_cast<float>(x_row[i]) * static_cast<float>(y_row[i]);
      }
    }
  }
#pragma unroll
  for (int distance = 1; distance < kThreadsPerRow; distance *= 2) sum += __shfl_xor_sync(kFullWarp, sum, distance);
  if (part == 0) result[static_cast<int>(threadIdx.x) / kThreadsPerRow] = sum;
}

}  // namespace tbench::kernels

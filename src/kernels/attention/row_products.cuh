// delta = rowsum(dO * O), which both the kernel before the backward products and, for short sequences, these
// themselves compute.
#pragma once

#include "tile.cuh"

namespace tbench::kernels {

/// Of the elements in 16 bytes.
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

/// Sums of products of rows [first_row, first_row + count) of the block's head, to result[0, count); rows from `rows`
/// on give 0. Eight threads share a row. Every thread of the block takes part; the caller synchronises.
template <class Element, int kHeadDim, int kThreads>
__device__ __forceinline__ void row_products(const Matrix<const Element>& x, const Matrix<const Element>& y,
                                             int first_row, int count, int rows, float* result) {
  constexpr int kThreadsPerRow = 8;
  constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));
  const Element* const x_head = x.head(blockIdx.z, blockIdx.y);
  const Element* const y_head = y.head(blockIdx.z, blockIdx.y);
  const int part = static_cast<int>(threadIdx.x) % kThreadsPerRow;
  for (int row = static_cast<int>(threadIdx.x) / kThreadsPerRow; row < count; row += kThreads / kThreadsPerRow) {
    float sum = 0.0f;
    if (first_row + row < rows) {
      const Element* const x_row = x_head + (first_row + row) * x.row_stride;
      const Element* const y_row = y_head + (first_row + row) * y.row_stride;
      if (x.vectors && y.vectors) {
        for (int i = part * kPerVector; i < kHeadDim; i += kThreadsPerRow * kPerVector) {
          sum += dot<Element>(reinterpret_cast<const uint4&>(x_row[i]), reinterpret_cast<const uint4&>(y_row[i]));
        }
      } else {
        for (int i = part; i < kHeadDim; i += kThreadsPerRow)
          sum += static_cast<float>(x_row[i]) * static_cast<float>(y_row[i]);
      }
    }
    for (int distance = 1; distance < kThreadsPerRow; distance *= 2) sum += __shfl_xor_sync(kFullWarp, sum, distance);
    if (part == 0) result[row] = sum;
  }
}

}  // namespace tbench::kernels

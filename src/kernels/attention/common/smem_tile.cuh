// Tiles of a [seq, head_dim] matrix in shared memory, with rows padded by 16 bytes. A row is then an odd number of
// 16-byte units for every head_dim that is a multiple of 16. The eight rows of a matrix load, and the eight rows that
// the eight quads of a warp access, therefore lie in different banks. An XOR swizzle avoids bank conflicts without
// padding, but not for rows of 160 or 192 bytes, and needs instructions for addresses that padded rows reach with a
// constant offset.
#pragma once

#include <cstdint>

#include "kernels/attention/common/ptx.cuh"
#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels {

constexpr int kVectorBytes = 16;

template <class Element>
constexpr int row_bytes(int head_dim) {
  return head_dim * static_cast<int>(sizeof(Element)) + kVectorBytes;
}

/// A tensor in global memory, as a kernel parameter.
template <class Element>
struct GlobalMatrix {
  Element* data;
  std::int64_t batch_stride, head_stride, row_stride;  // elements
  bool vectors;                                        // whether every row starts on a 16-byte boundary

  __device__ Element* head(std::int64_t batch, std::int64_t head) const {
    return data + batch * batch_stride + head * head_stride;
  }
};

template <class Element>
GlobalMatrix<Element> matrix_of(const TensorView& view) {
  constexpr std::int64_t kVector = kVectorBytes / static_cast<std::int64_t>(sizeof(Element));
  bool vectors = reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes == 0;
  for (const std::int64_t stride : view.strides) vectors = vectors && stride % kVector == 0;
  return {static_cast<Element*>(view.data), view.strides[0], view.strides[1], view.strides[2], vectors};
}

/// Starts copying rows [first_row, first_row + kRows) of a head into a tile. If `kChecked`, rows from `rows` on become
/// zeros; otherwise all rows are below `rows`. Copies of vectors are asynchronous, and the caller calls
/// cp_async_commit_group(); copies of single elements are complete when the function returns.
template <class Element, int kRows, int kHeadDim, int kThreads, bool kChecked>
__device__ __forceinline__ void load_tile(std::uint32_t tile, const Element* head, std::int64_t row_stride,
                                          bool vectors, int first_row, int rows) {
  constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));
  constexpr int kVectorsPerRow = kHeadDim / kPerVector;
  const int thread = static_cast<int>(threadIdx.x);
  if (vectors) {
    // Every pass of the CTA covers whole rows, so that a thread stays in its column and its addresses are a pointer
    // plus constants. If the vectors of a row do not divide the number of threads, the last threads do not copy.
    constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    const int row = thread / kVectorsPerRow, column = thread % kVectorsPerRow;
    if (kThreads % kVectorsPerRow != 0 && row >= kRowsPerPass) return;
    const Element* source = head + (first_row + row) * row_stride + column * kPerVector;
    const std::uint32_t destination = tile + row * row_bytes<Element>(kHeadDim) + column * kVectorBytes;
#pragma unroll
    for (int pass = 0; pass * kRowsPerPass < kRows; ++pass) {
      if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
      const bool valid = !kChecked || first_row + row + pass * kRowsPerPass < rows;
      cp_async_16(destination + pass * kRowsPerPass * row_bytes<Element>(kHeadDim), valid ? source : head, valid);
      source += kRowsPerPass * row_stride;
    }
  } else {
    char* const generic = static_cast<char*>(__cvta_shared_to_generic(tile));
#pragma unroll 1
    for (int index = thread; index < kRows * kHeadDim; index += kThreads) {
      const int row = index / kHeadDim, column = index % kHeadDim;
      Element element{};
      if (first_row + row < rows) element = head[(first_row + row) * row_stride + column];
      reinterpret_cast<Element*>(generic + row * row_bytes<Element>(kHeadDim))[column] = element;
    }
  }
}

/// Writes change(x) to `destination` for each element x of a tile that this thread copied by load_tile() with the same
/// parameters. `destination` is the tile itself or a tile of the same shape. Called after cp_async_wait_group() and
/// before the barrier that publishes the tiles.
template <class Element, int kRows, int kHeadDim, int kThreads, class Change>
__device__ __forceinline__ void change_own_elements(const char* tile, char* destination, bool vectors,
                                                    Change&& change) {
  constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));
  constexpr int kVectorsPerRow = kHeadDim / kPerVector;
  const int thread = static_cast<int>(threadIdx.x);
  if (vectors) {
    constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    const int row = thread / kVectorsPerRow, column = thread % kVectorsPerRow;
    if (kThreads % kVectorsPerRow != 0 && row >= kRowsPerPass) return;
    const int own = row * row_bytes<Element>(kHeadDim) + column * kVectorBytes;
#pragma unroll
    for (int pass = 0; pass * kRowsPerPass < kRows; ++pass) {
      if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
      struct alignas(kVectorBytes) Vector {
        Element elements[kPerVector];
      };
      const int offset = own + pass * kRowsPerPass * row_bytes<Element>(kHeadDim);
      Vector changed = *reinterpret_cast<const Vector*>(tile + offset);
#pragma unroll
      for (int i = 0; i < kPerVector; ++i) changed.elements[i] = change(changed.elements[i]);
      *reinterpret_cast<Vector*>(destination + offset) = changed;
    }
  } else {
#pragma unroll 1
    for (int index = thread; index < kRows * kHeadDim; index += kThreads) {
      const int row = index / kHeadDim, column = index % kHeadDim;
      const int line = row * row_bytes<Element>(kHeadDim);
      reinterpret_cast<Element*>(destination + line)[column] =
          change(reinterpret_cast<const Element*>(tile + line)[column]);
    }
  }
}

/// Stores the rows of a tile, except for rows from `rows` on.
template <class Element, int kRows, int kHeadDim, int kThreads>
__device__ __forceinline__ void store_tile(const char* tile, Element* head, std::int64_t row_stride, bool vectors,
                                           int first_row, int rows) {
  constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));
  constexpr int kVectorsPerRow = kHeadDim / kPerVector;
  if (vectors) {
#pragma unroll 4
    for (int index = static_cast<int>(threadIdx.x); index < kRows * kVectorsPerRow; index += kThreads) {
      const int row = index / kVectorsPerRow, column = index % kVectorsPerRow;
      if (first_row + row >= rows) break;
      *reinterpret_cast<uint4*>(head + (first_row + row) * row_stride + column * kPerVector) =
          *reinterpret_cast<const uint4*>(tile + row * row_bytes<Element>(kHeadDim) + column * kVectorBytes);
    }
    return;
  }
#pragma unroll 1
  for (int index = static_cast<int>(threadIdx.x); index < kRows * kHeadDim; index += kThreads) {
    const int row = index / kHeadDim, column = index % kHeadDim;
    if (first_row + row >= rows) break;
    head[(first_row + row) * row_stride + column] =
        reinterpret_cast<const Element*>(tile + row * row_bytes<Element>(kHeadDim))[column];
  }
}

}  // namespace tbench::kernels

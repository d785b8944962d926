// Descriptions of tensors for Hopper's tensor copy engine.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm90 {

/// [batch, heads, rows, head_dim]; head_dim a multiple of 16 bytes.
struct TmaExtents {
  std::int64_t batch{}, heads{}, rows{}, head_dim{};
  std::int64_t element_bytes{2};
};

/// Whether the copy engine reads and writes such a tensor: its address and the strides that count, those of extents
/// above one, are multiples of 16 bytes, and these strides positive and below 2^40 bytes.
[[nodiscard]] bool tma_supports(const TensorView& view, const TmaExtents& extents);

/// Of boxes of `box_rows` rows of a head, at most 256, in shared memory [head_dim / 64, box_rows, 64] with the 128-byte
/// swizzle; where 64 does not divide head_dim, of boxes of one panel of 64 columns each; of head_dim 32 in [box_rows,
/// 32] with the 64-byte swizzle. Of float32 panels have half as many columns. Rows and columns beyond the last are read
/// as zeros and not written. A coordinate is {column, row, 0, head, batch}.
/// @param view       tma_supports()
/// @param precision  of elements of so many bytes. kTf32: what is read of float32 is rounded to the nearest TF32 number
/// @param panel_of_16_bits  columns of a panel, 64, 32 or 16, with the swizzle of a row's bytes; 0: as above
/// @throws  cuda::CudaError for a driver that does not know such maps or refuses this one
[[nodiscard]] CUtensorMap make_tma_descriptor(const TensorView& view, const TmaExtents& extents, Precision precision,
                                              int box_rows, int panel_of_16_bits = 0);

}  // namespace tbench::kernels::sm90

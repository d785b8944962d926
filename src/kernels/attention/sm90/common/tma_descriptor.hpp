// TMA descriptors (CUtensorMap) of tensors.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels::sm90 {

/// Extents of a tensor [batch, heads, rows, head_dim]; a row of head_dim elements is a multiple of 16 bytes.
struct TmaExtents {
  std::int64_t batch{}, heads{}, rows{}, head_dim{};
  std::int64_t element_bytes{2};
};

/// Whether TMA can read and write a tensor of this layout: its address and the strides of all extents above 1 are
/// multiples of 16 bytes, and these strides are positive and below 2^40 bytes.
[[nodiscard]] bool tma_supports(const TensorLayout& layout, const TmaExtents& extents);

/// Makes a TMA descriptor with boxes of `box_rows` rows (at most 256) of one head. A coordinate is {column, row, 0,
/// head, batch}. Rows and columns past the end of the tensor are read as zeros and not written.
///
/// In shared memory a box of 16-bit elements has the layout [head_dim / 64, box_rows, 64] with the 128-byte swizzle. At
/// head_dim 32 its layout is [box_rows, 32] with the 64-byte swizzle. If 64 does not divide head_dim, a box is one
/// 64-column panel. Panels of float32 have half as many columns.
/// @param view       a tensor whose layout tma_supports() accepts
/// @param precision  precision of the elements, which have `extents.element_bytes` bytes; with kTf32, a load rounds
///                   float32 to the nearest TF32 number
/// @param panel_of_16_bits  columns of a panel of 16-bit elements: 64, 32 or 16, for the 128-, 64- or 32-byte swizzle;
///                          0: as above
/// @throws  cuda::CudaError if the driver does not support TMA descriptors or refuses this descriptor
[[nodiscard]] CUtensorMap make_tma_descriptor(const TensorView& view, const TmaExtents& extents, Precision precision,
                                              int box_rows, int panel_of_16_bits = 0);

}  // namespace tbench::kernels::sm90

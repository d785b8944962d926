// Constants that both TF32 passes share.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/attention/sm90_tf32/common/sm90_names.hpp"

namespace tbench::kernels::sm90_tf32 {

inline constexpr std::array<std::int64_t, 2> kHeadDims{64, 128};

/// Floats per panel row of 128 bytes.
constexpr int kPanelFloats = 32;

/// Columns of a 16-bit row that is as long as a float32 row of `head_dim` columns. Shared memory, boxes and groups of
/// heads are the same as in the 16-bit kernels for this width.
[[nodiscard]] constexpr int columns_of_16_bits(int head_dim) { return 2 * head_dim; }

/// Shape of the preprocess kernels: a warp takes 16 rows by 32 columns.
constexpr int kPrepareThreads = 256;
constexpr int kPrepareRows = 16;
constexpr int kPrepareColumns = 32;

}  // namespace tbench::kernels::sm90_tf32

// Constants that both TF32 passes share.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/attention/sm90_tf32/common/sm90_names.hpp"

namespace tbench::kernels::sm90_tf32 {

inline constexpr std::array<std::int64_t, 2> kHeadDims{64, 128};

/// Floats per panel row of 128 bytes.
constexpr int kPanelFloats = 32;

/// Returns the number of 16-bit columns that take as many bytes as `head_dim` float32 columns. Shared memory, TMA boxes
/// and groups of heads are computed as for a 16-bit kernel with this head_dim.
[[nodiscard]] constexpr int columns_of_16_bits(int head_dim) { return 2 * head_dim; }

/// Shape of the preprocess kernels: a warp takes 16 rows by 32 columns.
constexpr int kPrepareThreads = 256;
constexpr int kPrepareRows = 16;
constexpr int kPrepareColumns = 32;

}  // namespace tbench::kernels::sm90_tf32

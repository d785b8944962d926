// Rows of tiles in shared memory, which are padded by 16 bytes (see common/smem_tile.cuh).
#pragma once

#include <cstddef>

namespace tbench::kernels::sm80 {

/// Bytes of one row of a tile in shared memory.
[[nodiscard]] constexpr std::size_t padded_row_bytes_16bit(int head_dim) {
  return static_cast<std::size_t>(head_dim) * 2 + 16;
}
[[nodiscard]] constexpr std::size_t padded_row_bytes_32bit(int head_dim) {
  return static_cast<std::size_t>(head_dim) * 4 + 16;
}

}  // namespace tbench::kernels::sm80

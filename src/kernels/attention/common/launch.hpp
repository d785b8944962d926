// Launch configuration, which the plans of all attention kernels compute on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::kernels {

/// Whether a precision is stored in 16 bits and uses mma.m16n8k16 with float32 accumulators. The other precisions are
/// stored as float32 and use mma.m16n8k8, with one product of TF32 operands (kTf32), or three products for float32's
/// accuracy (kFp32).
constexpr bool is_16bit(Precision precision) { return precision == Precision::kBf16 || precision == Precision::kFp16; }

/// Returns the number of blocks of `block` rows that cover `extent` rows.
[[nodiscard]] constexpr std::int64_t block_count(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

struct Grid {
  std::int64_t x{}, y{}, z{};
  bool operator==(const Grid&) const = default;
};

struct Launch {
  Grid grid;
  int threads{};
  std::size_t shared_bytes{};
  bool operator==(const Launch&) const = default;
};

/// Queries per CTA of the preprocess and postprocess kernels of a backward pass.
constexpr int kBackwardHelperRows = 64;
constexpr int kBackwardHelperThreads = 256;
[[nodiscard]] constexpr Launch backward_helper_launch(const AttentionShape& shape, std::size_t shared_bytes) {
  return {.grid = {block_count(shape.seq_q, kBackwardHelperRows), shape.heads, shape.batch},
          .threads = kBackwardHelperThreads,
          .shared_bytes = shared_bytes};
}

}  // namespace tbench::kernels

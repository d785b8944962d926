// A GPU's own limits as operations: memory bandwidth, matrix products, launches, dispatch, copies to and from the host.
// Free of LibTorch in its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// How much a ceiling's operation does in one launch.
struct CeilingSizes {
  std::int64_t stream_bytes{};    // of each buffer of copy, read and write; a multiple of 2^15
  std::int64_t transfer_bytes{};  // copied between host and device; a multiple of 4
  std::int64_t product_m{};       // of the matrix products
  std::int64_t product_nk{};      // n = k of the matrix products, twice that of float32's; fp8 needs a multiple of 16
  std::int64_t dispatches{};      // operations one after the other
};

/// Returns the sizes that the benchmark uses. On a GPU buffers of copy, read and write have 4 GiB each, or an eighth of
/// its memory if that is less: what a flush leaves dirty in L2, whose write-back a cold launch pays, is about a
/// hundredth of them. Products have an m of 64 per multiprocessor: tiles of 128 x 128 and of 128 x 256 then fill every
/// wave of blocks.
[[nodiscard]] CeilingSizes default_ceiling_sizes(DeviceKind device);

struct CeilingConfig {
  std::string what;  // one of ceiling_names()
  DeviceKind device{};
  std::uint64_t seed{};
  std::optional<CeilingSizes> sizes{};  // absent: default_ceiling_sizes(), asked for as late as work() or build()
};

/// Returns the names of the ceilings. A launch of each, with n = stream_bytes:
/// - copy: copies one buffer of normal values to another, by our kernel or cudaMemcpyAsync; 2 n bytes, read and
/// written;
/// - read: adds all 32-bit words of a buffer modulo 2^32, with a partial sum for each block; n bytes;
/// - write: writes 32 KiB of normal values over and over; n bytes;
/// - l2_read: as read, of a quarter of the L2 cache, until 1 GiB is read; L1 does not help, since in each pass another
///   block reads a tile; passes * buffer bytes;
/// - gemm_fp32, gemm_tf32, gemm_bf16, gemm_fp16, gemm_fp8_e4m3: a product of the Gemm family; 2 m n k FLOP;
/// - launch: a kernel of one thread adds one to a counter; event: nothing, two events one behind the other. Their
///   difference is what a kernel's start and end take on the device; `enqueue_ms` of launch is what they take the host;
/// - queue_gap: 64 kernels on all multiprocessors, each of which waits for 24,000 cycles of their clock; the time of
///   the step that its trace does not have, over 64, is the gap between two kernels of a queue that is never empty;
/// - dispatch: 1,000 additions of 1,024 float32 numbers one by one, each out of place and of the last one's sum;
///   `dispatch_us` is the host's time of one, by its steady clock;
/// - h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable: transfer_bytes, once over the bus, by cudaMemcpyAsync from or
/// to
///   page-locked or pageable memory. The host takes part in pageable copies, which no spin could hide, so that all four
///   are chained steps.
/// copy, read, write, l2_read and the products take the fastest of several ways, found by a trial when they are built;
/// the finding `implementation` names it.
[[nodiscard]] std::vector<std::string> ceiling_names();

/// The precision whose datasheet rate a ceiling's products are compared with; nothing for ceilings without products and
/// for fp8, in which no implementation of a model computes.
[[nodiscard]] std::optional<Precision> ceiling_precision(std::string_view what);

/// @throws  UsageError  if there is no such ceiling
[[nodiscard]] std::unique_ptr<Case> make_ceiling_case(const CeilingConfig& config);

}  // namespace tbench::model

// Cases that measure a GPU's limits: memory bandwidth, matrix products, launches, dispatch, copies to and from the
// host. The interface is free of LibTorch.
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

/// The amount of work in one launch of a ceiling.
struct CeilingSizes {
  std::int64_t stream_bytes{};    // bytes of each buffer of copy, read and write; a multiple of 2^15
  std::int64_t transfer_bytes{};  // bytes copied between host and device; a multiple of 4
  std::int64_t product_m{};       // rows m of the matrix products
  std::int64_t product_nk{};      // n = k of the matrix products; float32 takes half of it; fp8 needs a multiple of 16
  std::int64_t dispatches{};      // number of operations, one after the other
};

/// Returns the sizes that the benchmark uses. On a GPU, the buffers of copy, read and write have 4 GiB each, or an
/// eighth of the GPU's memory if that is less. A cold launch also writes back the lines that a flush left dirty in L2;
/// they are about a hundredth of such a buffer. The products' m is 64 times the number of SMs, so that tiles of 128 x
/// 128 and of 128 x 256 fill every wave of CTAs.
[[nodiscard]] CeilingSizes default_ceiling_sizes(DeviceKind device);

struct CeilingConfig {
  std::string what;  // one of ceiling_names()
  DeviceKind device{};
  std::uint64_t seed{};
  std::optional<CeilingSizes> sizes{};  // if absent, work() and build() use default_ceiling_sizes()
};

/// Returns the names of the ceilings. One launch of each, with n = stream_bytes:
/// - copy: copies one buffer of normal values to another, by our kernel or cudaMemcpyAsync; 2 n bytes, read and
///   written;
/// - read: adds all 32-bit words of a buffer modulo 2^32, with a partial sum for each CTA; n bytes;
/// - write: writes 32 KiB of normal values over and over; n bytes;
/// - l2_read: like read, but of a buffer of a quarter of the L2 cache, repeated until 1 GiB is read. L1 does not help,
///   since in each pass a different CTA reads a tile; passes * buffer bytes;
/// - gemm_fp32, gemm_tf32, gemm_bf16, gemm_fp16, gemm_fp8_e4m3: a product of the Gemm family; 2 m n k FLOP;
/// - launch: a kernel of one thread adds one to a counter; event: two events in a row with no kernel between them. The
///   difference between launch and event is the time that a kernel's start and end take on the device; `enqueue_ms` of
///   launch is the host's time for a launch;
/// - queue_gap: 64 kernels on all SMs, each of which waits for 24,000 SM clock cycles. The part of the step's time in
///   which its trace shows no kernel, divided by 64, is the gap between two kernels of a queue that is never empty;
/// - dispatch: a chain of 1,000 out-of-place additions on 1,024 float32 numbers, each of which adds to the previous
///   sum; `dispatch_us` is the host's time per addition, by its steady clock;
/// - h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable: transfer_bytes, once over the bus, by cudaMemcpyAsync from or
///   to page-locked or pageable memory. The host takes part in pageable copies, so that a spinning kernel ahead of them
///   could not hide their enqueueing; all four are therefore chained steps.
///
/// copy, read, write, l2_read and the products use the fastest of several implementations, found by a trial in build();
/// the label `implementation` names it.
[[nodiscard]] std::vector<std::string> ceiling_names();

/// Returns the precision whose datasheet rate is the reference for a ceiling's products. Returns nullopt for ceilings
/// without products, and for fp8, which is not a Precision because no implementation of a model uses it.
[[nodiscard]] std::optional<Precision> ceiling_precision(std::string_view what);

/// Makes the case of one ceiling.
/// @throws  UsageError  if there is no such ceiling
[[nodiscard]] std::unique_ptr<Case> make_ceiling_case(const CeilingConfig& config);

}  // namespace tbench::model

// A GPU's own limits as operations: memory bandwidth, matrix products, launches, dispatch, copies to and from the host.
// Free of LibTorch in its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/precision.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/operation.hpp"

namespace tbench::model {

/// How much a ceiling's operation does in one launch.
struct CeilingSizes {
  std::int64_t stream_bytes{};    // of each buffer of copy, read and write; a multiple of 2^15
  std::int64_t transfer_bytes{};  // copied between host and device; a multiple of 4
  std::int64_t product_m{};       // of the matrix products
  std::int64_t product_nk{};      // n = k of the matrix products, twice that of float32's; fp8 needs a multiple of 16
  std::int64_t dispatches{};      // operations one after the other
};

/// What the benchmark uses. On a GPU buffers of copy, read and write have 4 GiB each, or an eighth of its memory if
/// that is less: what a flush leaves dirty in L2, whose write-back a cold launch pays, is about a hundredth of them.
/// Products have m of 64 a multiprocessor: tiles of 128 x 128 and of 128 x 256 then fill every wave of blocks.
[[nodiscard]] CeilingSizes default_ceiling_sizes(DeviceKind device);

struct CeilingConfig {
  std::string what;  // one of ceiling_names()
  DeviceKind device{};
  std::uint64_t seed{};
  std::optional<CeilingSizes> sizes{};  // absent: default_ceiling_sizes(), asked for as late as work() or build()
};

/// copy, read, write, l2_read, gemm_fp32, gemm_tf32, gemm_bf16, gemm_fp16, gemm_fp8_e4m3, launch, event, dispatch,
/// h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable.
[[nodiscard]] std::vector<std::string> ceiling_names();

/// The precision whose datasheet rate a ceiling's products are held against; nothing for those without products and for
/// fp8, which no implementation of a model computes in.
[[nodiscard]] std::optional<Precision> ceiling_precision(std::string_view what);

/// @throws  UsageError  if there is no such ceiling
[[nodiscard]] std::unique_ptr<Operation> make_ceiling(const CeilingConfig& config);

}  // namespace tbench::model

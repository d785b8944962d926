#include "tbench/model/ceiling_case.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

#include "model/operations/ceiling/parts.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

struct CeilingMaker {
  std::string_view what;
  std::unique_ptr<Case> (*make)(const CeilingConfig&);
};

constexpr std::array kCeilings{
    CeilingMaker{"copy", &make_stream_ceiling},           CeilingMaker{"read", &make_stream_ceiling},
    CeilingMaker{"write", &make_stream_ceiling},          CeilingMaker{"l2_read", &make_stream_ceiling},
    CeilingMaker{"gemm_fp32", &make_product_ceiling},     CeilingMaker{"gemm_tf32", &make_product_ceiling},
    CeilingMaker{"gemm_bf16", &make_product_ceiling},     CeilingMaker{"gemm_fp16", &make_product_ceiling},
    CeilingMaker{"gemm_fp8_e4m3", &make_product_ceiling}, CeilingMaker{"launch", &make_launch_ceiling},
    CeilingMaker{"event", &make_event_ceiling},           CeilingMaker{"queue_gap", &make_queue_gap_ceiling},
    CeilingMaker{"dispatch", &make_dispatch_ceiling},     CeilingMaker{"h2d_pinned", &make_transfer_ceiling},
    CeilingMaker{"h2d_pageable", &make_transfer_ceiling}, CeilingMaker{"d2h_pinned", &make_transfer_ceiling},
    CeilingMaker{"d2h_pageable", &make_transfer_ceiling},
};

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::int64_t gpu_memory_bytes() {
  return static_cast<std::int64_t>(at::cuda::getCurrentDeviceProperties()->totalGlobalMem);
}

}  // namespace

CeilingSizes default_ceiling_sizes(DeviceKind device) {
  if (device == DeviceKind::kCpu) {
    // Sizes for one core with some 10 GB/s and 50 GFLOP/s: about 10 ms per launch, and well above the core's caches.
    return {.stream_bytes = 64 * kMebi,
            .transfer_bytes = 64 * kMebi,
            .product_m = 512,
            .product_nk = 1024,
            .dispatches = 1000};
  }
  const auto eighth = std::bit_floor(static_cast<std::uint64_t>(gpu_memory_bytes() / 8));
  return {.stream_bytes = std::min(4096 * kMebi, static_cast<std::int64_t>(eighth)),
          .transfer_bytes = 64 * kMebi,
          .product_m = 64 * static_cast<std::int64_t>(at::cuda::getCurrentDeviceProperties()->multiProcessorCount),
          .product_nk = 8192,
          .dispatches = 1000};
}

CeilingSizes ceiling_sizes(const CeilingConfig& config) {
  return config.sizes ? *config.sizes : default_ceiling_sizes(config.device);
}

std::optional<std::string> needs_gpu_reason(const CeilingConfig& config) {
  if (config.device == DeviceKind::kCpu) return fmt::format("{} is a limit of a GPU: a CPU has none", config.what);
  if (cuda_device_count() == 0) return "no CUDA device";
  return std::nullopt;
}

std::vector<std::string> ceiling_names() {
  std::vector<std::string> names;
  for (const CeilingMaker& ceiling : kCeilings) names.emplace_back(ceiling.what);
  return names;
}

std::optional<Precision> ceiling_precision(std::string_view what) { return product_precision(what); }

std::unique_ptr<Case> make_ceiling_case(const CeilingConfig& config) {
  const auto found = std::ranges::find(kCeilings, config.what, &CeilingMaker::what);
  if (found != kCeilings.end()) return found->make(config);
  throw UsageError{
      fmt::format("what:{}: no such ceiling; expected one of {}", config.what, fmt::join(ceiling_names(), ", "))};
}

}  // namespace tbench::model

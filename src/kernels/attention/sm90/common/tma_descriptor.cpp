#include "kernels/attention/sm90/common/tma_descriptor.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <array>

#include "kernels/attention/sm90/common/swizzle.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr std::int64_t kAlignment = 16;
constexpr std::int64_t kStrideLimit = std::int64_t{1} << 40;
constexpr unsigned kRank = 5;

using Encode = PFN_cuTensorMapEncodeTiled_v12000;

/// Looks up the driver's function by name, because the program is not linked with the driver.
Encode encode_function() {
  static const Encode encode = [] {
    constexpr unsigned kFirstVersion = 12000;
    void* function{};
    cudaDriverEntryPointQueryResult found{};
    TBENCH_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kFirstVersion,
                                                       cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || function == nullptr) {
      cuda::check(cudaErrorNotSupported, "cuTensorMapEncodeTiled of the driver, which needs CUDA 12", __FILE__);
    }
    return reinterpret_cast<Encode>(function);
  }();
  return encode;
}

/// Returns the strides of batches, heads and rows in bytes. If an extent is 1, its stride is replaced by one that the
/// driver accepts.
std::array<std::int64_t, 3> strides_in_bytes(const std::array<std::int64_t, 3>& elements, const TmaExtents& extents) {
  std::array<std::int64_t, 3> strides{};
  const std::array counts{extents.batch, extents.heads, extents.rows};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    strides[i] = (counts[i] > 1 ? elements[i] : extents.head_dim) * extents.element_bytes;
  }
  return strides;
}

CUtensorMapDataType data_type(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Precision::kFp16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Precision::kTf32:
      return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case Precision::kFp32:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMapSwizzle swizzle(int panel_of_16_bits) {
  switch (panel_of_16_bits) {
    case kSwizzle32Cols:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case kSwizzle64Cols:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    default:
      return CU_TENSOR_MAP_SWIZZLE_128B;
  }
}

}  // namespace

bool tma_supports(const TensorLayout& layout, const TmaExtents& extents) {
  if (layout.alignment < kAlignment) return false;
  for (const std::int64_t stride : strides_in_bytes(layout.strides, extents)) {
    if (stride <= 0 || stride % kAlignment != 0 || stride >= kStrideLimit) return false;
  }
  return true;
}

CUtensorMap make_tma_descriptor(const TensorView& view, const TmaExtents& extents, Precision precision, int box_rows,
                                int panel_of_16_bits) {
  const auto size = [](std::int64_t value) { return static_cast<cuuint64_t>(value); };
  const auto [batch_stride, head_stride, row_stride] = strides_in_bytes(view.strides, extents);
  if (panel_of_16_bits == 0) {
    panel_of_16_bits = panel_columns(static_cast<int>(extents.head_dim * extents.element_bytes / 2));
  }
  const std::int64_t panel = std::int64_t{panel_of_16_bits} * 2 / extents.element_bytes;
  const bool in_panels = extents.head_dim % panel == 0;
  const std::int64_t columns = in_panels ? panel : extents.head_dim, panels = extents.head_dim / columns;
  const std::array<cuuint64_t, kRank> counts{size(columns), size(extents.rows), size(panels), size(extents.heads),
                                             size(extents.batch)};
  const std::array<cuuint64_t, kRank - 1> strides{size(row_stride), size(panel * extents.element_bytes),
                                                  size(head_stride), size(batch_stride)};
  const std::array<cuuint32_t, kRank> box{static_cast<cuuint32_t>(panel), static_cast<cuuint32_t>(box_rows),
                                          static_cast<cuuint32_t>(panels), 1, 1};
  constexpr std::array<cuuint32_t, kRank> kEveryElement{1, 1, 1, 1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode_function()(&map, data_type(precision), kRank, view.data, counts.data(), strides.data(), box.data(),
                        kEveryElement.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle(panel_of_16_bits),
                        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  // CUDA's driver and runtime give their error codes the same numbers.
  cuda::check(static_cast<cudaError_t>(result), "cuTensorMapEncodeTiled", __FILE__);
  return map;
}

}  // namespace tbench::kernels::sm90

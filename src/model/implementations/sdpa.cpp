// `sdpa`: the fastest operators of stock LibTorch. It has fused attention called by operator name, fused rms_norm, silu
// and cross entropy, and fused AdamW. q, k and v of a layer lie in one tensor, which needs one matrix product instead
// of three and one cast of the input; the parameters keep their names, as slices.
#include <ATen/cuda/CUDAContextLight.h>
#include <fmt/format.h>

#include "model/layers/attention.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::sdpa {
namespace {

// ATen's flash kernels (FlashAttention-2) take head dimensions up to 256, padded to a multiple of 8 by the caller;
// the memory-efficient kernels read float32 in vectors of 4.
constexpr std::int64_t kFlashMaxHeadDim = 256;
constexpr std::int64_t kFlashHeadDimMultiple = 8;
constexpr std::int64_t kEfficientHeadDimMultiple = 4;
constexpr int kFlashMinMajor = 8;

std::optional<std::string> unsupported_reason(const ModelConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  const std::int64_t head_dim = config.size.head_dim();
  if (config.precision == Precision::kFp32 || config.precision == Precision::kTf32) {
    if (head_dim % kEfficientHeadDimMultiple == 0) return std::nullopt;
    return fmt::format("memory-efficient attention needs a head_dim that is a multiple of {}, not {}",
                       kEfficientHeadDimMultiple, head_dim);
  }
  if (head_dim % kFlashHeadDimMultiple != 0 || head_dim > kFlashMaxHeadDim) {
    return fmt::format("flash attention needs a head_dim that is a multiple of {} and at most {}, not {}",
                       kFlashHeadDimMultiple, kFlashMaxHeadDim, head_dim);
  }
  const auto* properties = at::cuda::getCurrentDeviceProperties();
  if (properties->major >= kFlashMinMajor) return std::nullopt;
  return fmt::format("flash attention needs compute capability 8.0, the GPU has {}.{}", properties->major,
                     properties->minor);
}

TBENCH_REGISTER(ModelImpl, {.name = "sdpa",
                            .order = 20,
                            .ops = {.embedding = &fused_embedding,
                                    .rms_norm = &fused_rms_norm,
                                    .attention = &fused_attention,
                                    .feed_forward = &fused_swiglu,
                                    .cross_entropy = &fused_cross_entropy,
                                    .make_attention_constants = &make_fused_attention_constants},
                            .make_passes = nullptr,
                            .layout = {.fused_qkv = true},
                            .optimizer = AdamWVariant::kFused,
                            .unsupported_reason = &unsupported_reason});

}  // namespace
}  // namespace tbench::model::implementations::sdpa

// `flash`: like `sdpa`, but with our own fused attention kernels, forward and backward.
#include "model/layers/attention.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::flash {
namespace {

TBENCH_REGISTER(ModelImpl, {.name = "flash",
                            .order = 30,
                            .ops = {.embedding = &fused_embedding,
                                    .rms_norm = &fused_rms_norm,
                                    .attention = &flash_fused_attention,
                                    .feed_forward = &fused_swiglu,
                                    .cross_entropy = &fused_cross_entropy,
                                    .make_attention_constants = &make_fused_attention_constants},
                            .make_passes = nullptr,
                            .layout = {.fused_qkv = true},
                            .optimizer = AdamWVariant::kFused,
                            .unsupported_reason = &flash_attention_refusal});

}  // namespace
}  // namespace tbench::model::implementations::flash

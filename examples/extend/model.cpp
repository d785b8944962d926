// `fused_attention`: `eager` with LibTorch's fused attention instead of its own. The difference is what attention alone
// gains. As src/model/implementations/NAME.cpp it is an implementation of the model.
#include "model/layers/attention.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::fused_attention_alone {
namespace {

TBENCH_REGISTER(ModelImpl, {.name = "fused_attention",
                            .order = 1000,
                            .ops = {.embedding = &eager_embedding,
                                    .rms_norm = &eager_rms_norm,
                                    .attention = &fused_attention,
                                    .feed_forward = &eager_swiglu,
                                    .cross_entropy = &eager_cross_entropy,
                                    .make_attention_constants = &make_fused_attention_constants},
                            .make_passes = nullptr,
                            .layout = {.fused_qkv = true},  // that attention's weights of q, k and v are one tensor
                            .optimizer = AdamWVariant::kForeach,
                            .unsupported_reason = nullptr});

}  // namespace
}  // namespace tbench::model::implementations::fused_attention_alone

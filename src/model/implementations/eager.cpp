// `eager`: operation by operation like the course's PyTorch code, with PyTorch's default AdamW on a GPU (foreach).
#include "model/layers/attention.hpp"
#include "model/layers/layers.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::eager {
namespace {

TBENCH_REGISTER(ModelImpl, {.name = "eager",
                            .order = 10,
                            .ops = {.embedding = &eager_embedding,
                                    .rms_norm = &eager_rms_norm,
                                    .attention = &eager_attention,
                                    .feed_forward = &eager_swiglu,
                                    .cross_entropy = &eager_cross_entropy,
                                    .make_attention_constants = &make_eager_attention_constants},
                            .make_passes = nullptr,
                            .layout = {},
                            .optimizer = AdamWVariant::kForeach,
                            .unsupported_reason = nullptr});

}  // namespace
}  // namespace tbench::model::implementations::eager

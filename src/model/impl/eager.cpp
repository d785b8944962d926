// `eager`: operation by operation as the course's PyTorch code does it, AdamW as PyTorch's default on a GPU (foreach).
#include "tbench/model/cross_entropy.hpp"
#include "tbench/model/embedding.hpp"
#include "tbench/model/model_impl.hpp"
#include "tbench/model/rms_norm.hpp"
#include "tbench/model/swiglu.hpp"

namespace tbench::model {

ModelImpl eager_impl() {
  return {.name = "eager",
          .ops = {.embedding = &eager_embedding,
                  .rms_norm = &eager_rms_norm,
                  .attention = &eager_attention,
                  .feed_forward = &eager_swiglu,
                  .cross_entropy = &eager_cross_entropy,
                  .make_attention_tables = &make_eager_attention_tables},
          .fused_qkv = false,
          .optimizer = AdamWVariant::kForeach,
          .unsupported_reason = nullptr};
}

}  // namespace tbench::model

// `flash`: as `sdpa`, with our own fused attention kernels, forward and backward.
#include "tbench/model/flash_attention.hpp"
#include "tbench/model/model_impl.hpp"

namespace tbench::model {
namespace {

std::optional<std::string> flash_model_refusal(const ModelStepConfig& config) {
  if (config.device == DeviceKind::kCpu) return "our attention kernels run on GPUs alone";
  return flash_unsupported_reason({.batch = config.batch,
                                   .heads = config.size.num_heads,
                                   .seq_q = config.context,
                                   .seq_kv = config.context,
                                   .head_dim = config.size.head_dim(),
                                   .causal = true},
                                  config.precision);
}

}  // namespace

ModelImpl flash_impl() {
  ModelImpl impl = sdpa_impl();
  impl.name = "flash";
  impl.ops.attention = &flash_fused_attention;
  impl.unsupported_reason = &flash_model_refusal;
  return impl;
}

}  // namespace tbench::model

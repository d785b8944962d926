// `fused`: the step written by hand with our own kernels and cuBLASLt's products, without autograd.
#include <fmt/format.h>

#include "model/fused/fused_passes.hpp"
#include "model/training/model_impl.hpp"

namespace tbench::model::implementations::fused {
namespace {

std::optional<std::string> unsupported_reason(const ModelConfig& config) {
  if (auto reason = flash_attention_refusal(config)) return reason;
  if (config.size.d_model <= kernels::kNormMaxWidth) return std::nullopt;
  return fmt::format("our norm takes rows of up to {} elements, d_model is {}", kernels::kNormMaxWidth,
                     config.size.d_model);
}

TBENCH_REGISTER(ModelImpl, {.name = "fused",
                            .order = 40,
                            .make_passes = &make_fused_passes,
                            .layout = {.fused_qkv = true, .fused_gate_up = true},
                            .optimizer = AdamWVariant::kFusedKernel,
                            .unsupported_reason = &unsupported_reason});

}  // namespace
}  // namespace tbench::model::implementations::fused

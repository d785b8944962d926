// `flash`: our own fused kernels, forward and backward. Outputs and workspace come from LibTorch's allocator inside the
// timed region, like the outputs of ATen's operators.
#include <utility>

#include "model/attention/implementation.hpp"
#include "model/layers/flash_attention.hpp"

namespace tbench::model::backends::flash {
namespace {

FlashOptions flash_options(const AttentionOperands& operands) {
  return {.causal = operands.config.shape.causal,
          .scale = operands.scale,
          .precision = operands.config.precision,
          .deterministic = operands.config.deterministic};
}

std::optional<std::string> unsupported_reason(const AttentionConfig& config) {
  if (auto reason = cpu_refusal(config)) return reason;
  return flash_unsupported_reason(config.shape, config.precision);
}

AttentionState forward(const AttentionOperands& operands, bool /*for_backward*/) {
  FlashOutput output = flash_forward(operands.q, operands.k, operands.v, flash_options(operands));
  return {.output = std::move(output.o), .lse = std::move(output.lse), .saved = {}};
}

AttentionGradients backward(const AttentionOperands& operands, const AttentionState& state, bool /*keep_state*/) {
  FlashGradients gradients = flash_backward(operands.grad_o, operands.q, operands.k, operands.v,
                                            {.o = state.output, .lse = state.lse}, flash_options(operands));
  return {.dq = std::move(gradients.dq), .dk = std::move(gradients.dk), .dv = std::move(gradients.dv)};
}

TBENCH_REGISTER(AttentionImpl, {.name = "flash",
                                .order = 60,
                                .precisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = true,
                                .score_matrices = 0,
                                .kernel_mark = "tbench::kernels::",
                                .unsupported_reason = &unsupported_reason,
                                .prepare = nullptr,
                                .forward = &forward,
                                .backward = &backward,
                                .has_shared_heads = true});

}  // namespace
}  // namespace tbench::model::backends::flash

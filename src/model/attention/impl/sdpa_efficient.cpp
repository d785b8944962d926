// `sdpa_efficient`: ATen's memory-efficient operators (CUTLASS), forward and backward, by their explicit names.
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>

#include <array>
#include <tuple>
#include <utility>

#include "../sdpa_refusal.hpp"
#include "tbench/model/attention/implementation.hpp"

namespace tbench::model {
namespace {

constexpr double kEfficientDropout = 0.0;

std::optional<std::string> efficient_refusal(const AttentionStepConfig& config) {
  if (auto reason = cpu_refusal(config)) return reason;
  if (config.precision == Precision::kTf32) {
    return "the memory-efficient kernels ignore the TF32 setting: on float32 they use three TF32 products for one, for "
           "float32's accuracy; that is precision:fp32";
  }
  return sdpa_refusal(&sdp::can_use_mem_efficient_attention, config);
}

AttentionState efficient_forward(const AttentionOperands& operands, bool for_backward) {
  auto [output, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
      operands.q, operands.k, operands.v, /*attn_bias=*/{}, /*compute_log_sumexp=*/for_backward, kEfficientDropout,
      operands.config.shape.causal, operands.scale);
  AttentionState state{.output = std::move(output), .lse = {}, .saved = {std::move(seed), std::move(offset)}};
  if (for_backward) state.lse = std::move(lse);
  return state;
}

AttentionGradients efficient_backward(const AttentionOperands& operands, const AttentionState& state,
                                      bool /*keep_state*/) {
  constexpr std::array<bool, 4> kGradientsOfQkvNotBias{true, true, true, false};
  auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
      operands.grad_o, operands.q, operands.k, operands.v, /*attn_bias=*/{}, state.output, state.lse, state.saved[0],
      state.saved[1], kEfficientDropout, kGradientsOfQkvNotBias, operands.config.shape.causal, operands.scale);
  return {.dq = std::move(dq), .dk = std::move(dk), .dv = std::move(dv)};
}

}  // namespace

AttentionImpl sdpa_efficient_attention_impl() {
  return {.name = "sdpa_efficient",
          .precisions = {Precision::kFp32, Precision::kBf16, Precision::kFp16},
          .has_deterministic_mode = false,
          .score_matrices = 0,
          .kernel_mark = "fmha",
          .unsupported_reason = &efficient_refusal,
          .prepare = nullptr,
          .forward = &efficient_forward,
          .backward = &efficient_backward};
}

}  // namespace tbench::model

// `sdpa_cudnn`: ATen's cuDNN operators, forward and backward, by their explicit names.
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention_backward.h>

#include <tuple>
#include <utility>

#include "../sdpa_refusal.hpp"
#include "tbench/model/attention/implementation.hpp"

namespace tbench::model {
namespace {

constexpr double kCudnnDropout = 0.0;

std::optional<std::string> cudnn_refusal(const AttentionStepConfig& config) {
  if (auto reason = cpu_refusal(config)) return reason;
  return sdpa_refusal(&sdp::can_use_cudnn_attention, config);
}

AttentionState cudnn_forward(const AttentionOperands& operands, bool for_backward) {
  auto results = at::_scaled_dot_product_cudnn_attention(
      operands.q, operands.k, operands.v, /*attn_bias=*/{}, /*compute_log_sumexp=*/for_backward, kCudnnDropout,
      operands.config.shape.causal, /*return_debug_mask=*/false, operands.scale);
  AttentionState state{
      .output = std::move(std::get<0>(results)),
      .lse = {},
      .saved = {std::move(std::get<2>(results)), std::move(std::get<3>(results)), std::move(std::get<6>(results)),
                std::move(std::get<7>(results))}};  // cum_seq_q, cum_seq_k, philox_seed, philox_offset
  if (for_backward) state.lse = std::move(std::get<1>(results));
  return state;
}

AttentionGradients cudnn_backward(const AttentionOperands& operands, const AttentionState& state, bool /*keep_state*/) {
  const AttentionShape& shape = operands.config.shape;
  auto [dq, dk, dv] = at::_scaled_dot_product_cudnn_attention_backward(
      operands.grad_o, operands.q, operands.k, operands.v, state.output, state.lse, state.saved[2], state.saved[3],
      /*attn_bias=*/{}, state.saved[0], state.saved[1], shape.seq_q, shape.seq_kv, kCudnnDropout, shape.causal,
      operands.scale);
  return {.dq = std::move(dq), .dk = std::move(dk), .dv = std::move(dv)};
}

}  // namespace

AttentionImpl sdpa_cudnn_attention_impl() {
  return {.name = "sdpa_cudnn",
          .precisions = {Precision::kBf16, Precision::kFp16},
          .has_deterministic_mode = false,
          .score_matrices = 0,
          .kernel_mark = "cudnn",
          .unsupported_reason = &cudnn_refusal,
          .prepare = nullptr,
          .forward = &cudnn_forward,
          .backward = &cudnn_backward};
}

}  // namespace tbench::model

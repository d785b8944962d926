// `sdpa_flash`: ATen's flash operators, forward and backward, by their explicit names; FlashAttention-2 on a GPU,
// ATen's own tiled kernel on a CPU.
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "../sdpa_refusal.hpp"
#include "tbench/model/attention/implementation.hpp"

namespace tbench::model {
namespace {

constexpr double kFlashDropout = 0.0;
// The explicit operator does not pad, as scaled_dot_product_attention does.
constexpr std::int64_t kFlashOperatorMultiple = 8;

std::optional<std::string> flash_refusal(const AttentionStepConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  if (config.shape.head_dim % kFlashOperatorMultiple != 0) {
    return fmt::format("the flash operator needs a head_dim that is a multiple of {}, not {}", kFlashOperatorMultiple,
                       config.shape.head_dim);
  }
  return sdpa_refusal(&sdp::can_use_flash_attention, config);
}

AttentionState flash_cpu_forward(const AttentionOperands& operands) {
  auto [output, lse] =
      at::_scaled_dot_product_flash_attention_for_cpu(operands.q, operands.k, operands.v, kFlashDropout,
                                                      operands.config.shape.causal, /*attn_mask=*/{}, operands.scale);
  return {.output = std::move(output), .lse = std::move(lse), .saved = {}};
}

AttentionState flash_forward_operator(const AttentionOperands& operands, bool /*for_backward*/) {
  if (operands.config.device == DeviceKind::kCpu) return flash_cpu_forward(operands);
  auto results = at::_scaled_dot_product_flash_attention(operands.q, operands.k, operands.v, kFlashDropout,
                                                         operands.config.shape.causal, /*return_debug_mask=*/false,
                                                         operands.scale);
  return {.output = std::move(std::get<0>(results)),
          .lse = std::move(std::get<1>(results)),
          .saved = {std::move(std::get<2>(results)), std::move(std::get<3>(results)), std::move(std::get<6>(results)),
                    std::move(std::get<7>(results))}};  // cum_seq_q, cum_seq_k, rng_state, unused
}

AttentionGradients flash_backward_operator(const AttentionOperands& operands, const AttentionState& state,
                                           bool /*keep_state*/) {
  const AttentionShape& shape = operands.config.shape;
  std::tuple<at::Tensor, at::Tensor, at::Tensor> gradients;
  if (operands.config.device == DeviceKind::kCpu) {
    gradients = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        operands.grad_o, operands.q, operands.k, operands.v, state.output, state.lse, kFlashDropout, shape.causal,
        /*attn_mask=*/{}, operands.scale);
  } else {
    gradients = at::_scaled_dot_product_flash_attention_backward(
        operands.grad_o, operands.q, operands.k, operands.v, state.output, state.lse, state.saved[0], state.saved[1],
        shape.seq_q, shape.seq_kv, kFlashDropout, shape.causal, state.saved[2], state.saved[3], operands.scale);
  }
  auto& [dq, dk, dv] = gradients;
  return {.dq = std::move(dq), .dk = std::move(dk), .dv = std::move(dv)};
}

}  // namespace

AttentionImpl sdpa_flash_attention_impl() {
  return {.name = "sdpa_flash",
          .precisions = {Precision::kBf16, Precision::kFp16},
          .has_deterministic_mode = true,
          .score_matrices = 0,
          .kernel_mark = "flash",
          .unsupported_reason = &flash_refusal,
          .prepare = nullptr,
          .forward = &flash_forward_operator,
          .backward = &flash_backward_operator};
}

}  // namespace tbench::model

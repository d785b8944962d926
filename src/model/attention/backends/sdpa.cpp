// `sdpa_flash`, `sdpa_efficient`, `sdpa_cudnn`: ATen's fused attention, called by the names of its operators, forward
// and backward. If an operator refuses a configuration, the reason is ATen's own message.
#include <ATen/native/transformers/cuda/sdp_utils.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>
#include <tuple>
#include <utility>

#include "model/attention/implementation.hpp"
#include "model/layers/flash_attention.hpp"
#include "model/layers/shared_heads.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model::backends::sdpa {
namespace {

/// Collects the warnings that ATen would print.
class WarningKeeper final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (!text_.empty()) text_ += "; ";
    text_ += warning.msg();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Returns a tensor of the case's shape that needs the memory of one row only, by strides of 0.
at::Tensor stand_in(const AttentionConfig& config, std::int64_t heads, std::int64_t seq) {
  const AttentionShape& shape = config.shape;
  const at::Tensor row = at::empty(
      {shape.head_dim},
      at::TensorOptions{}.device(torch_device(config.device)).dtype(compute_dtype(config.precision, at::kFloat)));
  return row.expand({shape.batch, heads, seq, shape.head_dim}).requires_grad_(config.pass != AttentionPass::kForward);
}

/// Returns why ATen refuses the configuration, or nullopt if it accepts it. Runs the check by which ATen chooses a
/// backend, on tensors with the configuration's shape, dtype and need of a gradient. Needs a CUDA device; allocates a
/// few bytes on it.
/// @param can_use    a check such as sdp::can_use_flash_attention
/// @param key_heads  heads of k and v
std::optional<std::string> sdpa_refusal(bool (*can_use)(const sdp::sdp_params& parameters, bool debug),
                                        const AttentionConfig& config, std::int64_t key_heads) {
  const DeterministicScope deterministic{config.deterministic};
  const sdp::sdp_params parameters{.query = stand_in(config, config.shape.heads, config.shape.seq_q),
                                   .key = stand_in(config, key_heads, config.shape.seq_kv),
                                   .value = stand_in(config, key_heads, config.shape.seq_kv),
                                   .attn_mask = std::nullopt,
                                   .dropout = 0.0,
                                   .is_causal = config.shape.causal,
                                   .enable_gqa = key_heads != config.shape.heads};
  WarningKeeper keeper;
  const c10::WarningUtils::WarningHandlerGuard handler{&keeper};
  const c10::WarningUtils::WarnAlways always;  // by default ATen gives some reasons only once per process
  if (can_use(parameters, /*debug=*/true)) return std::nullopt;
  return keeper.text().empty() ? "ATen rejects it without giving a reason" : keeper.text();
}

// `sdpa_flash`: ATen's flash operators, forward and backward, called by name: FlashAttention-2 on a GPU, ATen's own
// tiled kernel on a CPU.

// Unlike scaled_dot_product_attention, the flash operator does not pad head_dim to a multiple of this.
constexpr std::int64_t kFlashOperatorMultiple = 8;

std::optional<std::string> flash_refusal(const AttentionConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  if (config.shape.head_dim % kFlashOperatorMultiple != 0) {
    return fmt::format("the flash operator needs a head_dim that is a multiple of {}, not {}", kFlashOperatorMultiple,
                       config.shape.head_dim);
  }
  return sdpa_refusal(&sdp::can_use_flash_attention, config, config.shape.key_heads());
}

AttentionState flash_cpu_forward(const AttentionOperands& operands) {
  auto [output, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
      operands.q, operands.k, operands.v, kNoDropout, operands.config.shape.causal, /*attn_mask=*/{}, operands.scale);
  return {.output = std::move(output), .lse = std::move(lse), .saved = {}};
}

AttentionState flash_forward_operator(const AttentionOperands& operands, bool /*for_backward*/) {
  if (operands.config.device == DeviceKind::kCpu) return flash_cpu_forward(operands);
  auto results = at::_scaled_dot_product_flash_attention(operands.q, operands.k, operands.v, kNoDropout,
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
        operands.grad_o, operands.q, operands.k, operands.v, state.output, state.lse, kNoDropout, shape.causal,
        /*attn_mask=*/{}, operands.scale);
  } else {
    gradients = at::_scaled_dot_product_flash_attention_backward(
        operands.grad_o, operands.q, operands.k, operands.v, state.output, state.lse, state.saved[0], state.saved[1],
        shape.seq_q, shape.seq_kv, kNoDropout, shape.causal, state.saved[2], state.saved[3], operands.scale);
  }
  auto& [dq, dk, dv] = gradients;
  return {.dq = std::move(dq), .dk = std::move(dk), .dv = std::move(dv)};
}

// `sdpa_efficient`: ATen's memory-efficient operators (CUTLASS), forward and backward, called by name. They need a head
// of k and v for each head of q: grouped heads are copied in the step, and their gradients summed.

std::optional<std::string> efficient_refusal(const AttentionConfig& config) {
  if (auto reason = cpu_refusal(config)) return reason;
  if (config.precision == Precision::kTf32) {
    return "the memory-efficient kernels ignore the TF32 setting: on float32 they use three TF32 products for one, for "
           "float32's accuracy; that is precision:fp32";
  }
  return sdpa_refusal(&sdp::can_use_mem_efficient_attention, config, config.shape.heads);
}

AttentionState efficient_forward(const AttentionOperands& operands, bool for_backward) {
  const std::int64_t heads = operands.config.shape.heads;
  at::Tensor k = repeated_heads(operands.k, heads), v = repeated_heads(operands.v, heads);
  auto [output, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
      operands.q, k, v, /*attn_bias=*/{}, /*compute_log_sumexp=*/for_backward, kNoDropout, operands.config.shape.causal,
      operands.scale);
  AttentionState state{.output = std::move(output), .lse = {}, .saved = {std::move(seed), std::move(offset)}};
  if (for_backward && operands.config.shape.group() != 1) {
    state.saved.insert(state.saved.end(), {std::move(k), std::move(v)});
  }
  if (for_backward) state.lse = std::move(lse);
  return state;
}

AttentionGradients efficient_backward(const AttentionOperands& operands, const AttentionState& state,
                                      bool /*keep_state*/) {
  constexpr std::array<bool, 4> kGradientsOfQkvNotBias{true, true, true, false};
  const bool has_copies = operands.config.shape.group() != 1;
  const at::Tensor &k = has_copies ? state.saved[2] : operands.k, &v = has_copies ? state.saved[3] : operands.v;
  auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
      operands.grad_o, operands.q, k, v, /*attn_bias=*/{}, state.output, state.lse, state.saved[0], state.saved[1],
      kNoDropout, kGradientsOfQkvNotBias, operands.config.shape.causal, operands.scale);
  const std::int64_t key_heads = operands.config.shape.key_heads();
  return {.dq = std::move(dq), .dk = summed_heads(dk, key_heads), .dv = summed_heads(dv, key_heads)};
}

// `sdpa_cudnn`: ATen's cuDNN operators, forward and backward, called by name.

std::optional<std::string> cudnn_refusal(const AttentionConfig& config) {
  if (auto reason = cpu_refusal(config)) return reason;
  return sdpa_refusal(&sdp::can_use_cudnn_attention, config, config.shape.key_heads());
}

AttentionState cudnn_forward(const AttentionOperands& operands, bool for_backward) {
  auto results = at::_scaled_dot_product_cudnn_attention(
      operands.q, operands.k, operands.v, /*attn_bias=*/{}, /*compute_log_sumexp=*/for_backward, kNoDropout,
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
      /*attn_bias=*/{}, state.saved[0], state.saved[1], shape.seq_q, shape.seq_kv, kNoDropout, shape.causal,
      operands.scale);
  return {.dq = std::move(dq), .dk = std::move(dk), .dv = std::move(dv)};
}

TBENCH_REGISTER(AttentionImpl, {.name = "sdpa_flash",
                                .order = 30,
                                .precisions = {Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = true,
                                .score_matrices = 0,
                                .kernel_mark = "flash",
                                .unsupported_reason = &flash_refusal,
                                .prepare = nullptr,
                                .forward = &flash_forward_operator,
                                .backward = &flash_backward_operator,
                                .has_shared_heads = true});

TBENCH_REGISTER(AttentionImpl, {.name = "sdpa_efficient",
                                .order = 40,
                                .precisions = {Precision::kFp32, Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = false,
                                .score_matrices = 0,
                                .kernel_mark = "fmha",
                                .unsupported_reason = &efficient_refusal,
                                .prepare = nullptr,
                                .forward = &efficient_forward,
                                .backward = &efficient_backward,
                                .has_shared_heads = true});

TBENCH_REGISTER(AttentionImpl, {.name = "sdpa_cudnn",
                                .order = 50,
                                .precisions = {Precision::kBf16, Precision::kFp16},
                                .has_deterministic_mode = false,
                                .score_matrices = 0,
                                .kernel_mark = "cudnn",
                                .unsupported_reason = &cudnn_refusal,
                                .prepare = nullptr,
                                .forward = &cudnn_forward,
                                .backward = &cudnn_backward,
                                .has_shared_heads = true});

}  // namespace
}  // namespace tbench::model::backends::sdpa

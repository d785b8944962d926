#include "sdpa_refusal.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "tbench/model/execution_scope.hpp"
#include "tbench/model/precision_scope.hpp"

namespace tbench::model {
namespace {

/// Keeps what ATen would have printed.
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

/// A tensor of the shape in question without its memory: one row, repeated by strides of 0.
at::Tensor stand_in(const AttentionStepConfig& config, std::int64_t seq) {
  const AttentionShape& shape = config.shape;
  const at::Tensor row = at::empty(
      {shape.head_dim},
      at::TensorOptions{}.device(torch_device(config.device)).dtype(compute_dtype(config.precision, at::kFloat)));
  return row.expand({shape.batch, shape.heads, seq, shape.head_dim})
      .requires_grad_(config.pass != AttentionPass::kForward);
}

}  // namespace

std::optional<std::string> sdpa_refusal(bool (*can_use)(const sdp::sdp_params& parameters, bool debug),
                                        const AttentionStepConfig& config) {
  const DeterministicScope deterministic{config.deterministic};
  const sdp::sdp_params parameters{.query = stand_in(config, config.shape.seq_q),
                                   .key = stand_in(config, config.shape.seq_kv),
                                   .value = stand_in(config, config.shape.seq_kv),
                                   .attn_mask = std::nullopt,
                                   .dropout = 0.0,
                                   .is_causal = config.shape.causal,
                                   .enable_gqa = false};
  WarningKeeper keeper;
  const c10::WarningUtils::WarningHandlerGuard handler{&keeper};
  const c10::WarningUtils::WarnAlways always;  // some of the reasons are given once a process otherwise
  if (can_use(parameters, /*debug=*/true)) return std::nullopt;
  return keeper.text().empty() ? "ATen refuses it without a reason" : keeper.text();
}

std::optional<std::string> cpu_refusal(const AttentionStepConfig& config) {
  if (config.device != DeviceKind::kCpu) return std::nullopt;
  return fmt::format("{} has no CPU kernel", config.impl);
}

}  // namespace tbench::model

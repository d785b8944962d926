#include "tbench/model/attention_case.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/attention/implementation.hpp"
#include "model/attention/runner.hpp"
#include "model/attention/verify.hpp"
#include "model/torch/output_checker.hpp"
#include "model/torch/scopes.hpp"
#include "model/torch/torch_case.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

const AttentionImpl& checked_attention_impl(const AttentionConfig& config) {
  const AttentionImpl& impl = attention_impls().at(config.impl);
  const AttentionShape& shape = config.shape;
  for (const std::int64_t extent : {shape.batch, shape.heads, shape.seq_q, shape.seq_kv, shape.head_dim}) {
    if (extent <= 0) throw UsageError{fmt::format("attention: the extent {} is not positive", extent)};
  }
  if (shape.kv_heads < 0 || shape.heads % shape.key_heads() != 0) {
    throw UsageError{fmt::format("attention: {} kv_heads do not divide {} heads", shape.kv_heads, shape.heads)};
  }
  if (shape.causal && shape.seq_q != shape.seq_kv) {
    throw UsageError{
        fmt::format("attention: a causal mask needs seq_q == seq_kv, not {} and {}", shape.seq_q, shape.seq_kv)};
  }
  return impl;
}

class AttentionCase final : public TorchCase {
 public:
  AttentionCase(AttentionConfig config, KernelObserver observe)
      : TorchCase{config.device},
        config_{std::move(config)},
        impl_{checked_attention_impl(config_)},
        observe_{std::move(observe)} {}

  std::optional<std::string> unsupported_reason() const override;
  std::int64_t min_bytes() const override;
  std::span<const std::string_view> phases() const override;
  Work work() const override { return attention_work(config_.shape, config_.pass); }
  std::vector<LiveTensor> live_tensors() const override { return built(runner_).live_tensors(); }
  std::map<std::string, double> counters() override;
  std::map<std::string, double> build_counters() override { return counters(); }
  std::map<std::string, std::string> labels() override {
    if (!kernels_) return {};
    return {{"kernels", kernels_->names}};
  }
  LaunchChecker* launch_checker() override { return checker_ ? &*checker_ : nullptr; }

 private:
  void do_build() override {
    runner_.reset();
    runner_.emplace(config_, impl_);
    checker_.reset();
    if (impl_.is_watched) checker_.emplace(watched(), config_.device);
  }
  [[nodiscard]] OutputChecker::Subject watched();
  Verification do_verify() override;
  std::optional<Verification> do_verify_again() override;
  void do_launch(PhaseMarker& marker) override { built(runner_).step(&marker); }

  AttentionConfig config_;
  const AttentionImpl& impl_;
  KernelObserver observe_;
  std::optional<AttentionRunner> runner_;
  std::optional<OutputChecker> checker_;
  std::optional<ObservedKernels> kernels_;  // kernels of one step, if they could be observed
};

std::optional<std::string> AttentionCase::unsupported_reason() const {
  if (auto reason = device_unsupported_reason(config_.device, config_.precision)) return reason;
  if (config_.deterministic && !impl_.has_deterministic_mode) {
    return fmt::format("{} has no deterministic mode to choose", config_.impl);
  }
  if (config_.shape.group() != 1 && !impl_.has_shared_heads) {
    return fmt::format("{} does not support grouped-query attention; naive and sdpa do", config_.impl);
  }
  return impl_.unsupported_reason != nullptr ? impl_.unsupported_reason(config_) : std::nullopt;
}

std::int64_t AttentionCase::min_bytes() const {
  const AttentionShape& shape = config_.shape;
  const auto element = static_cast<std::int64_t>(c10::elementSize(compute_dtype(config_.precision, at::kFloat)));
  const std::int64_t scores = shape.batch * shape.heads * shape.seq_q * shape.seq_kv * element;
  return attention_min_bytes(shape, config_.pass, element) + impl_.score_matrices * scores;
}

/// Describes the case to its output checker. A backward pass alone reads the state of a forward pass, which is
/// recomputed for every launch.
OutputChecker::Subject AttentionCase::watched() {
  const auto inputs = [this] {
    const AttentionOperands& all = runner_->operands();
    return std::vector<DrawnOperand>{{.values = all.q}, {.values = all.k}, {.values = all.v}};
  };
  const auto gradient = [this] { return std::vector<DrawnOperand>{{.values = runner_->operands().grad_o}}; };
  OutputChecker::Subject subject{
      .operands = inputs,
      .outputs =
          [this] {
            OutputChecker::Tensors outputs = runner_->last_outputs().all();
            if (outputs[kLse].defined()) outputs[kLse] = outputs[kLse].unsqueeze(-1);  // one number per row
            return outputs;
          },
      .groups = config_.shape.batch * config_.shape.heads,
      .compare_rows = [this](const HiddenRows& hidden,
                             Comparison& comparison) { add_attention_rows(*runner_, hidden, comparison); },
      .compare_digests = [this](const RowDigests& sums,
                                Comparison& comparison) { add_attention_sums(*runner_, sums, comparison); },
      .compare =
          [this](const OutputChecker::Tensors& copies) {
            const at::Tensor& lse = copies[kLse];
            return compare_attention(*runner_,
                                     {.o = copies[kO],
                                      .lse = lse.defined() ? lse.squeeze(-1) : lse,
                                      .dq = copies[kDq],
                                      .dk = copies[kDk],
                                      .dv = copies[kDv]},
                                     hidden_number());
          }};
  if (config_.pass == AttentionPass::kForwardBackward) {
    subject.operands = [inputs, gradient] {
      std::vector<DrawnOperand> all = inputs();
      all.push_back(gradient().front());
      return all;
    };
  }
  if (config_.pass == AttentionPass::kBackward) {
    subject.operands = gradient;
    subject.prepared = inputs;
    subject.prepare = [this] { runner_->restore(); };
  }
  return subject;
}

std::span<const std::string_view> AttentionCase::phases() const {
  static constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};
  const std::span<const std::string_view> all{kPhases};
  if (config_.pass == AttentionPass::kForwardBackward) return all;
  return config_.pass == AttentionPass::kForward ? all.first(1) : all.last(1);
}

/// Verifies the results and, on a GPU, the kernels that ran.
Verification AttentionCase::do_verify() {
  AttentionRunner& runner = built(runner_);
  if (observe_ && config_.device == DeviceKind::kCuda) kernels_ = observe_(*this, impl_.kernel_mark);
  Verification verdict = verify_attention(runner);
  if (verdict.passed && kernels_ && kernels_->fault) {
    verdict.passed = false;
    verdict.message = *kernels_->fault;
  }
  return verdict;
}

std::optional<Verification> AttentionCase::do_verify_again() {
  AttentionRunner& runner = built(runner_);
  Verification verdict = verify_attention(runner, config_.seed + 1);
  runner.fill(config_.seed);
  runner.restore();
  return verdict;
}

std::map<std::string, double> AttentionCase::counters() {
  const std::optional<std::int64_t> held = built(runner_).held_bytes();
  if (!held) return {};
  return {{"held_bytes", static_cast<double>(*held)}};
}

}  // namespace

std::unique_ptr<Case> make_attention_case(AttentionConfig config, KernelObserver observe) {
  return std::make_unique<AttentionCase>(std::move(config), std::move(observe));
}

}  // namespace tbench::model

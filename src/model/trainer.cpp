#include "tbench/model/trainer.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>

#include <utility>

#include "tbench/model/execution_scope.hpp"
#include "tbench/model/precision_scope.hpp"
#include "tbench/model/transformer.hpp"

namespace tbench::model {
namespace {

AttentionTableConfig table_config(const ModelStepConfig& config, const at::TensorOptions& options) {
  return {.context = config.context,
          .num_heads = config.size.num_heads,
          .head_dim = config.size.head_dim(),
          .options = options,
          .score_dtype = compute_dtype(config.precision, c10::typeMetaToScalarType(options.dtype()))};
}

void end_phase(const PhaseEnd& phase_end) {
  if (phase_end) phase_end();
}

}  // namespace

Trainer::Trainer(ModelStepConfig config, const ModelImpl& impl, at::ScalarType dtype)
    : config_{std::move(config)},
      impl_{impl},
      device_{torch_device(config_.device)},
      parameters_{config_.size, config_.vocab_size, impl.fused_qkv, at::TensorOptions{}.device(device_).dtype(dtype)} {
  tables_ = impl_.ops.make_attention_tables(table_config(config_, parameters_.named().front().value.options()));
  const bool is_fp16 = config_.precision == Precision::kFp16;
  if (config_.pass == Pass::kTrainStep) {
    // Only the fused optimizer can skip a step on the device: see AdamW::step.
    optimizer_.emplace(parameters_.leaves(), is_fp16 ? AdamWVariant::kFused : impl_.optimizer);
  }
  if (is_fp16 && config_.pass != Pass::kForward) scaler_.emplace(device_);
  gradients_.reserve(parameters_.leaves().size());
  make_tokens();
  parameters_.initialise(config_.seed);
}

void Trainer::make_tokens() {
  at::Generator generator = at::globalContext().defaultGenerator(device_).clone();
  generator.set_current_seed(config_.seed);
  const at::Tensor ids = at::randint(config_.vocab_size, {config_.batch, config_.context + 1}, generator,
                                     at::TensorOptions{}.device(device_).dtype(at::kLong));
  tokens_ = ids.narrow(1, 0, config_.context).contiguous();
  targets_ = ids.narrow(1, 1, config_.context).contiguous();
}

at::Tensor Trainer::logits(const at::Tensor& tokens) const {
  const AutocastScope autocast{config_.precision, device_.type()};
  return transformer(impl_.ops, tokens, parameters_.weights(), tables_);
}

at::Tensor Trainer::loss(const at::Tensor& tokens, const at::Tensor& targets) const {
  const AutocastScope autocast{config_.precision, device_.type()};
  return impl_.ops.cross_entropy(transformer(impl_.ops, tokens, parameters_.weights(), tables_), targets);
}

void Trainer::backward(const at::Tensor& loss) {
  const BackwardOnThisThread here;
  if (scaler_) {
    scaler_->scaled(loss).backward();
  } else {
    loss.backward();
  }
}

void Trainer::optimize() {
  stepped_ = true;
  if (!scaler_) {
    optimizer_->step();
    return;
  }
  for (const auto& leaf : parameters_.leaves()) gradients_.push_back(leaf.grad());
  const at::Tensor& found_inf = scaler_->unscale(gradients_);
  gradients_.clear();
  optimizer_->step(found_inf);
  scaler_->update();
}

void Trainer::step(const PhaseEnd& phase_end) {
  const Tf32Scope tf32{config_.precision};
  if (config_.pass == Pass::kForward) {
    const at::NoGradGuard no_grad;
    const at::Tensor output = logits(tokens_);
    end_phase(phase_end);
    return;
  }
  parameters_.clear_gradients();
  at::Tensor value = loss(tokens_, targets_);
  end_phase(phase_end);
  backward(value);
  end_phase(phase_end);
  if (config_.pass != Pass::kTrainStep) return;
  value.reset();
  optimize();
  end_phase(phase_end);
}

void Trainer::reset() {
  parameters_.clear_gradients();
  parameters_.initialise(config_.seed);
  if (optimizer_) optimizer_->reset();
  if (scaler_) scaler_->reset();
  stepped_ = false;
}

}  // namespace tbench::model

#include "model/training/trainer.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randint.h>

#include <algorithm>
#include <utility>

#include "model/torch/scopes.hpp"
#include "model/training/model_impl.hpp"
#include "tbench/cuda/range.hpp"

namespace tbench::model {
namespace {

AttentionConstantsConfig constants_config(const ModelConfig& config, const at::TensorOptions& options) {
  return {.context = config.context,
          .size = config.size,
          .options = options,
          .score_dtype = compute_dtype(config.precision, c10::typeMetaToScalarType(options.dtype()))};
}

std::vector<at::Tensor> optimized_by(const BatchPart& part, const Parameters& parameters,
                                     const ParameterLayout& layout) {
  if (layout.shares == 0) return parameters.leaves();
  const at::Tensor& whole = parameters.whole();
  const std::int64_t share = whole.numel() / layout.shares;
  const auto element_bytes = static_cast<std::int64_t>(whole.element_size());
  const std::int64_t at_once = std::max<std::int64_t>(layout.scatter_bytes / element_bytes / layout.shares, 1);
  return whole.narrow(0, part.index * share, share).split(at_once);
}

}  // namespace

AdamWVariant optimizer_variant(const ModelConfig& config, AdamWVariant variant) {
  // The foreach optimizers cannot skip a step on the device: see AdamW::step.
  if (variant == AdamWVariant::kFusedKernel) return variant;
  if (config.precision == Precision::kFp16) return AdamWVariant::kFused;
  const bool counts_on_host = variant == AdamWVariant::kForeach;
  return counts_on_host && config.exec == Execution::kGraph ? AdamWVariant::kForeachOnDevice : variant;
}

Trainer::Trainer(ModelConfig config, const ModelImpl& impl, at::ScalarType dtype)
    : config_{std::move(config)},
      impl_{impl},
      device_{torch_device(config_.device)},
      parameters_{config_.size, impl.layout, at::TensorOptions{}.device(device_).dtype(dtype)} {
  if (config_.precision == Precision::kFp16 && config_.pass != Pass::kForward) scaler_.emplace(device_);
  if (impl_.make_passes != nullptr) {
    passes_ = impl_.make_passes(
        {.config = config_, .parameters = parameters_, .loss_scale = scaler_ ? scaler_->device_scale() : at::Tensor{}});
  } else {
    constants_ =
        impl_.ops.make_attention_constants(constants_config(config_, parameters_.named().front().value.options()));
  }
  if (config_.pass == Pass::kTrainStep) {
    optimized_ = optimized_by(config_.part, parameters_, impl_.layout);
    optimizer_.emplace(optimized_, optimizer_variant(config_, impl_.optimizer));
    if (passes_) optimizer_->keep_up_to_date(passes_->copies());
  }
  gradients_.reserve(parameters_.leaves().size());
  tokens_ = at::empty({config_.batch, config_.context}, at::TensorOptions{}.device(device_).dtype(at::kLong));
  targets_ = at::empty_like(tokens_);
  fill_tokens(config_.seed);
  initialise(config_.seed);
}

void Trainer::initialise(std::uint64_t seed) {
  parameters_.initialise(seed);
  parameters_changed();
}

at::Tensor Trainer::whole_batch(std::uint64_t seed) const {
  at::Generator generator = at::globalContext().defaultGenerator(device_).clone();
  generator.set_current_seed(seed);
  return at::randint(config_.size.vocab_size, {config_.part.count * config_.batch, config_.context + 1}, generator,
                     tokens_.options());
}

void Trainer::fill_tokens(std::uint64_t seed) {
  const at::Tensor ids = whole_batch(seed).narrow(0, config_.part.index * config_.batch, config_.batch);
  tokens_.copy_(ids.narrow(1, 0, config_.context));
  targets_.copy_(ids.narrow(1, 1, config_.context));
}

at::Tensor Trainer::logits(const at::Tensor& tokens) const {
  if (passes_) return passes_->logits(tokens);
  const AutocastScope autocast{config_.precision, device_.type()};
  return transformer(impl_.ops, tokens, parameters_.weights(), constants_);
}

at::Tensor Trainer::loss(const at::Tensor& tokens, const at::Tensor& targets) const {
  return loss(tokens, targets, nullptr);
}

at::Tensor Trainer::loss(const at::Tensor& tokens, const at::Tensor& targets, StepOutputs* outputs) const {
  if (passes_) {
    const StepOutputs made = passes_->loss(tokens, targets);
    if (outputs != nullptr) *outputs = made;
    return made.loss;
  }
  const AutocastScope autocast{config_.precision, device_.type()};
  const at::Tensor logits = transformer(impl_.ops, tokens, parameters_.weights(), constants_);
  const at::Tensor value = cuda::in_range("loss", [&] { return impl_.ops.cross_entropy(logits, targets); });
  if (outputs != nullptr) *outputs = {.logits = logits.detach(), .loss = value.detach()};
  return value;
}

void Trainer::backward(const at::Tensor& loss, const UpdateHook& update) {
  if (passes_) {
    passes_->backward(update);
    return;
  }
  const BackwardOnThisThread here;
  if (scaler_) {
    scaler_->scaled(loss).backward();
  } else {
    loss.backward();
  }
}

bool Trainer::updates_in_backward() const {
  // Excludes fp16, which decides only after backward whether to skip the step, and several ranks, which have the
  // gradients' mean only then.
  return passes_ && optimizer_ && optimizer_->steps_in_chunks() && !scaler_ && sync_ == nullptr &&
         impl_.layout.shares == 0;
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

void Trainer::step(PhaseMarker* phases, StepOutputs* outputs) {
  const Tf32Scope tf32{config_.precision};
  if (config_.pass == Pass::kForward) {
    const at::NoGradGuard no_grad;
    const at::Tensor output = cuda::in_range("FORWARD", [&] { return logits(tokens_); });
    if (outputs != nullptr) *outputs = {.logits = output, .loss = {}};
    mark_phase(phases);
    return;
  }
  if (!passes_) parameters_.clear_gradients();
  if (sync_ != nullptr) sync_->begin_step();
  at::Tensor value = cuda::in_range("FORWARD", [&] { return loss(tokens_, targets_, outputs); });
  mark_phase(phases);
  std::optional<AdamW::ChunkedStep> in_parts;
  UpdateHook update;
  if (updates_in_backward()) {
    stepped_ = true;
    in_parts.emplace(*optimizer_);
    update = [&](std::span<const std::size_t> leaves, int max_blocks) { in_parts->update(leaves, max_blocks); };
  }
  cuda::in_range("BACKWARD", [&] {
    if (sync_ == nullptr) return backward(value, update);
    sync_->average([&] { backward(value); });
  });
  mark_phase(phases);
  if (config_.pass != Pass::kTrainStep) return;
  value.reset();
  cuda::in_range("OPTIMIZER", [&] {
    in_parts ? in_parts->finish() : optimize();
    if (sync_ != nullptr) sync_->share_parameters();
  });
  mark_phase(phases);
}

std::int64_t Trainer::held_bytes() const {
  const std::int64_t of_data = static_cast<std::int64_t>(tokens_.nbytes() + targets_.nbytes());
  return parameters_.bytes() + of_data + (optimizer_ ? optimizer_->state_bytes() : 0);
}

void Trainer::reset(std::uint64_t seed) {
  parameters_.clear_gradients();
  initialise(seed);
  fill_tokens(seed);
  if (optimizer_) optimizer_->reset();
  if (scaler_) scaler_->reset();
  stepped_ = false;
}

}  // namespace tbench::model

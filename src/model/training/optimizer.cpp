#include "model/training/optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tbench::model {
namespace {

std::vector<std::size_t> all_of(const std::vector<at::Tensor>& parameters) {
  std::vector<std::size_t> all(parameters.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::string optimizer_name(AdamWVariant variant) {
  switch (variant) {
    case AdamWVariant::kForeach:
    case AdamWVariant::kForeachOnDevice:
      return "adamw_foreach";
    case AdamWVariant::kFused:
      return "adamw_fused";
    case AdamWVariant::kFusedKernel:
      break;
  }
  return "adamw_own";
}

AdamW::AdamW(std::vector<at::Tensor> parameters, AdamWVariant variant, AdamWOptions options)
    : variant_{variant}, options_{options}, parameters_{std::move(parameters)} {
  const at::NoGradGuard no_grad;
  gradients_.reserve(parameters_.size());
  for (const auto& parameter : parameters_) {
    first_moments_.push_back(at::zeros_like(parameter));
    second_moments_.push_back(at::zeros_like(parameter));
  }
  if (parameters_.empty()) return;
  if (variant_ == AdamWVariant::kForeachOnDevice) {
    // The count is float64, since 1 - beta2 = 0.001 would lose too many digits in float32.
    device_steps_ = at::zeros({}, parameters_.front().options().dtype(at::kDouble).requires_grad(false));
  }
  if (variant_ == AdamWVariant::kFused || variant_ == AdamWVariant::kFusedKernel) {
    device_steps_ = at::zeros({}, parameters_.front().options().dtype(at::kFloat).requires_grad(false));
    all_steps_.assign(parameters_.size(), device_steps_);
  }
}

void AdamW::reset() {
  const at::NoGradGuard no_grad;
  at::_foreach_zero_(first_moments_);
  at::_foreach_zero_(second_moments_);
  steps_ = 0;
  if (device_steps_.defined()) device_steps_.zero_();
}

void AdamW::step(const at::Tensor& found_inf) {
  const bool skips = variant_ == AdamWVariant::kFused || variant_ == AdamWVariant::kFusedKernel;
  if (found_inf.defined() && !skips) {
    throw std::invalid_argument{"AdamW::step: the foreach variants cannot skip a step on the device"};
  }
  const at::NoGradGuard no_grad;
  for (const auto& parameter : parameters_) gradients_.push_back(parameter.grad());
  switch (variant_) {
    case AdamWVariant::kForeach:
      step_foreach();
      break;
    case AdamWVariant::kForeachOnDevice:
      step_foreach_on_device();
      break;
    case AdamWVariant::kFused:
      step_fused(found_inf);
      break;
    case AdamWVariant::kFusedKernel:
      step_fused_kernel(found_inf);
      break;
  }
  gradients_.clear();
}

void AdamW::step_foreach() {
  ++steps_;
  const auto [learning_rate, beta1, beta2, epsilon, weight_decay] = options_;
  const double correction1 = 1.0 - std::pow(beta1, static_cast<double>(steps_));
  const double correction2 = 1.0 - std::pow(beta2, static_cast<double>(steps_));
  at::_foreach_mul_(parameters_, 1.0 - learning_rate * weight_decay);
  at::_foreach_lerp_(first_moments_, gradients_, 1.0 - beta1);
  at::_foreach_mul_(second_moments_, beta2);
  at::_foreach_addcmul_(second_moments_, gradients_, gradients_, 1.0 - beta2);
  const std::vector<at::Tensor> denominators = at::_foreach_sqrt(second_moments_);
  at::_foreach_div_(denominators, std::sqrt(correction2));
  at::_foreach_add_(denominators, epsilon);
  at::_foreach_addcdiv_(parameters_, first_moments_, denominators, -learning_rate / correction1);
}

void AdamW::step_foreach_on_device() {
  const auto [learning_rate, beta1, beta2, epsilon, weight_decay] = options_;
  device_steps_.add_(1);
  const auto correction = [&](double beta) { return at::pow(beta, device_steps_).neg_().add_(1); };
  const at::ScalarType dtype = parameters_.front().scalar_type();
  const at::Tensor root = correction(beta2).sqrt_().to(dtype);
  const at::Tensor per_update = correction(beta1).mul_(-1.0 / learning_rate).to(dtype);
  at::_foreach_mul_(parameters_, 1.0 - learning_rate * weight_decay);
  at::_foreach_lerp_(first_moments_, gradients_, 1.0 - beta1);
  at::_foreach_mul_(second_moments_, beta2);
  at::_foreach_addcmul_(second_moments_, gradients_, gradients_, 1.0 - beta2);
  const std::vector<at::Tensor> denominators = at::_foreach_sqrt(second_moments_);
  at::_foreach_div_(denominators, root);
  at::_foreach_add_(denominators, epsilon);
  at::_foreach_mul_(denominators, per_update);
  at::_foreach_addcdiv_(parameters_, first_moments_, denominators);
}

void AdamW::step_fused(const at::Tensor& found_inf) {
  device_steps_.add_(1);
  const auto skip = found_inf.defined() ? std::optional<at::Tensor>{found_inf} : std::nullopt;
  at::_fused_adamw_(parameters_, gradients_, first_moments_, second_moments_, /*max_exp_avg_sqs=*/{}, all_steps_,
                    options_.learning_rate, options_.beta1, options_.beta2, options_.weight_decay, options_.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/std::nullopt, skip);
  if (skip) device_steps_.sub_(*skip);
}

void AdamW::keep_up_to_date(const std::vector<at::Tensor>& copies) {
  if (copies.empty()) return;
  if (variant_ != AdamWVariant::kFusedKernel || copies.size() != parameters_.size()) {
    throw std::invalid_argument{"AdamW: copies are written by our own kernel alone, one of each parameter"};
  }
  copies_ = copies;
}

void AdamW::step_fused_kernel(const at::Tensor& found_inf) {
  device_steps_.add_(1);
  update(all_of(parameters_), found_inf, /*max_blocks=*/{});
  if (found_inf.defined()) device_steps_.sub_(found_inf);
}

void AdamW::update(std::span<const std::size_t> parameters, const at::Tensor& found_inf,
                   std::optional<int> max_blocks) const {
  std::vector<kernels::AdamWTensor> tensors, short_tensors;
  for (const std::size_t i : parameters) {
    const at::Tensor& gradient = parameters_[i].grad();
    const bool is_short = gradient.scalar_type() == at::kBFloat16;
    (is_short ? short_tensors : tensors)
        .push_back({.parameter = parameters_[i].data_ptr<float>(),
                    .gradient = is_short ? gradient.const_data_ptr() : gradient.const_data_ptr<float>(),
                    .first_moment = first_moments_[i].data_ptr<float>(),
                    .second_moment = second_moments_[i].data_ptr<float>(),
                    .copy = copies_.empty() ? nullptr : copies_[i].data_ptr(),
                    .count = parameters_[i].numel()});
  }
  launch_fused_kernel(short_tensors, Precision::kBf16, found_inf, max_blocks);
  launch_fused_kernel(tensors, Precision::kFp32, found_inf, max_blocks);
}

void AdamW::launch_fused_kernel(const std::vector<kernels::AdamWTensor>& tensors, Precision gradients,
                                const at::Tensor& found_inf, std::optional<int> max_blocks) const {
  const bool is_half = !copies_.empty() && copies_.front().scalar_type() == at::kHalf;
  kernels::adamw(tensors,
                 {.learning_rate = options_.learning_rate,
                  .beta1 = options_.beta1,
                  .beta2 = options_.beta2,
                  .epsilon = options_.epsilon,
                  .weight_decay = options_.weight_decay,
                  .copy_precision = is_half ? Precision::kFp16 : Precision::kBf16,
                  .gradient_precision = gradients,
                  .step = device_steps_.data_ptr<float>(),
                  .found_inf = found_inf.defined() ? found_inf.data_ptr<float>() : nullptr,
                  .gradient_scale = nullptr},
                 c10::cuda::getCurrentCUDAStream(), max_blocks);
}

AdamW::ChunkedStep::ChunkedStep(AdamW& optimizer) : optimizer_{optimizer}, left_{all_of(optimizer.parameters_)} {
  if (!optimizer.steps_in_chunks()) throw std::invalid_argument{"AdamW: only our own kernel can run a step in chunks"};
}

void AdamW::ChunkedStep::update(std::span<const std::size_t> parameters, int max_blocks) {
  for (const std::size_t parameter : parameters) {
    const auto found = std::ranges::lower_bound(left_, parameter);
    if (found == left_.end() || *found != parameter) {
      throw std::invalid_argument{"AdamW: a step updates each of its parameters once; not number " +
                                  std::to_string(parameter)};
    }
    left_.erase(found);
  }
  count();
  optimizer_.update(parameters, {}, max_blocks);
}

void AdamW::ChunkedStep::finish() {
  count();
  optimizer_.update(std::exchange(left_, {}), {}, /*max_blocks=*/{});
}

/// Counts the step once, on the stream of its first part.
void AdamW::ChunkedStep::count() {
  if (std::exchange(is_counted_, true)) return;
  const at::NoGradGuard no_grad;
  optimizer_.device_steps_.add_(1);
}

std::vector<at::Tensor> AdamW::state() const {
  std::vector<at::Tensor> tensors = first_moments_;
  tensors.insert(tensors.end(), second_moments_.begin(), second_moments_.end());
  if (device_steps_.defined()) tensors.push_back(device_steps_);
  return tensors;
}

std::int64_t AdamW::state_bytes() const {
  std::size_t bytes = 0;
  for (const at::Tensor& tensor : state()) bytes += tensor.nbytes();
  return static_cast<std::int64_t>(bytes);
}

at::Tensor adamw_first_step(const at::Tensor& parameter, const at::Tensor& gradient, const AdamWOptions& options) {
  // Since both moments are zero before the step, the bias corrections cancel: m / (1 - beta1) = g and v / (1 - beta2) =
  // g^2. The parameter is rounded only once.
  const at::Tensor decay = parameter.mul(options.learning_rate * options.weight_decay);
  return parameter.sub(decay.addcdiv_(gradient, gradient.abs().add_(options.epsilon), options.learning_rate));
}

GradScaler::GradScaler(at::Device device) {
  const auto options = at::TensorOptions{}.device(device).dtype(at::kFloat);
  scale_ = at::full({}, kInitialScale, options);
  found_inf_ = at::zeros({}, options);
  skipped_ = at::zeros({}, options);
  growth_tracker_ = at::zeros({}, options.dtype(at::kInt));
}

at::Tensor GradScaler::scaled(const at::Tensor& loss) const { return loss.mul(scale_); }

const at::Tensor& GradScaler::unscale(std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  found_inf_.zero_();
  // The scale is a power of two: its float reciprocal is exact.
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, scale_.reciprocal());
  return found_inf_;
}

void GradScaler::update() {
  const at::NoGradGuard no_grad;
  skipped_.add_(found_inf_);
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf_, kGrowthFactor, kBackoffFactor, kGrowthInterval);
}

void GradScaler::reset(double scale) {
  scale_.fill_(scale);
  found_inf_.zero_();
  skipped_.zero_();
  growth_tracker_.zero_();
}

double GradScaler::scale() const { return scale_.item<double>(); }

double GradScaler::skipped_steps() const { return skipped_.item<double>(); }

}  // namespace tbench::model

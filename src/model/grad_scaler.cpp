#include "tbench/model/grad_scaler.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace tbench::model {

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

// The course's sums: 0.01 added n times to a scalar by eager additions, `s += x`, in every pair of formats. Also sums
// and dot products of seeded values by one reduction: our kernels in a chosen order, or ATen's own reduction.
#include "model/operations/accumulation/sums.hpp"

#include <ATen/ops/dot.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/kernels/accumulation.hpp"

namespace tbench::model {
namespace {

class RepeatedSum final : public OperationCase {
 public:
  explicit RepeatedSum(const AccumulationConfig& config) : OperationCase{config.device}, config_{config} {}

  std::optional<std::string> unsupported_reason() const override { return format_unsupported_reason(config_); }
  Work work() const override { return {.flop = {static_cast<double>(config_.n)}, .tokens = 0, .bytes = 0}; }
  std::map<std::string, double> counters() override {
    return {{"result", result_}, {"relative_error", relative_error_}};
  }

 private:
  void do_build() override {
    const auto options = at::TensorOptions{}.device(torch_device(config_.device));
    addend_ = at::scalar_tensor(kRepeatedAddend, options.dtype(storage_dtype(config_.input)));
    sum_ = at::zeros({}, options.dtype(storage_dtype(config_.accumulator)));
  }

  void enqueue() override {
    sum_.zero_();
    if (config_.method == AccumulationMethod::kCastUp) {
      for (std::int64_t i = 0; i < config_.n; ++i) sum_.add_(addend_.to(sum_.scalar_type()));
      return;
    }
    for (std::int64_t i = 0; i < config_.n; ++i) sum_.add_(addend_);
  }

  Verification do_verify() override {
    sum_.fill_(std::numeric_limits<double>::quiet_NaN());
    enqueue();
    result_ = sum_.item<double>();
    const float addend = rounded_to(static_cast<float>(kRepeatedAddend), config_.input);
    const double exact = static_cast<double>(config_.n) * static_cast<double>(addend);
    relative_error_ = std::abs(result_ - exact) / exact;
    return exact_verdict(result_, static_cast<double>(repeated_sum(addend, config_.n, config_.accumulator)),
                         "the same additions on the host, rounded one by one");
  }

  AccumulationConfig config_;
  at::Tensor addend_, sum_;  // scalars
  double result_{}, relative_error_{};
};

// Scales for terms that are absolute values of normal numbers: they give a sum's terms, or a dot product's products, a
// mean of 0.01. Such a sum grows like the course's sum, and an accumulator stops growing at the same value. |x| has the
// mean sqrt(2 / pi).
const double kSumScale = kRepeatedAddend * std::sqrt(std::numbers::pi / 2);
const double kDotScale = std::sqrt(kRepeatedAddend) * std::sqrt(std::numbers::pi / 2);

// Factor of the error that ATen's reduction may have, since its order is not documented. The sum of positive terms in
// any order is off by n u at worst, and by about sqrt(n) u if the roundings are independent (Higham, Mary, "A new
// approach to probabilistic rounding error analysis", 2019). lambda sqrt(n) u is at least 100 times the error seen on a
// CPU, whose many partial sums are short.
constexpr double kLambda = 4.0;

kernels::SumOrder order_of(AccumulationMethod method) {
  if (method == AccumulationMethod::kPairwise) return kernels::SumOrder::kPairwise;
  return method == AccumulationMethod::kKahan ? kernels::SumOrder::kKahan : kernels::SumOrder::kSequential;
}

/// Returns the values in float32 on the host, [n] contiguous.
at::Tensor host_values(const at::Tensor& values) { return values.to(at::kCPU, at::kFloat).contiguous(); }

class VectorSum final : public OperationCase {
 public:
  explicit VectorSum(const AccumulationConfig& config) : OperationCase{config.device}, config_{config} {}

  std::optional<std::string> unsupported_reason() const override {
    if (!is_aten() && config_.device == DeviceKind::kCpu) return "our own kernel needs a GPU";
    return format_unsupported_reason(config_);
  }
  Work work() const override {
    const double operations = is_dot() ? 2.0 : 1.0;
    return {.flop = {operations * static_cast<double>(config_.n)}, .tokens = 0, .bytes = 0};
  }
  std::map<std::string, double> counters() override {
    return {{"result", result_value_}, {"relative_error", relative_error_}};
  }

 private:
  [[nodiscard]] bool is_aten() const { return config_.method == AccumulationMethod::kAten; }
  [[nodiscard]] bool is_dot() const { return config_.op == AccumulationOp::kDot; }

  void do_build() override {
    const auto values = [&](std::uint64_t index) {
      return seeded_normal({config_.n}, at::kFloat, config_.device, config_.seed, index)
          .abs_()
          .mul_(is_dot() ? kDotScale : kSumScale)
          .to(storage_dtype(config_.input));
    };
    a_ = values(0);
    if (is_dot()) b_ = values(1);
    result_ = at::zeros({}, at::TensorOptions{}.device(torch_device(config_.device)).dtype(at::kFloat));
  }

  void enqueue() override {
    if (!is_aten()) {
      kernels::sum({.a = a_.const_data_ptr(),
                    .b = is_dot() ? b_.const_data_ptr() : nullptr,
                    .count = config_.n,
                    .input = config_.input,
                    .accumulator = config_.accumulator,
                    .order = order_of(config_.method)},
                   result_.mutable_data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
    } else if (is_dot()) {
      at::dot_out(result_, a_, b_);
    } else {
      at::sum_out(result_, a_, at::IntArrayRef{0}, /*keepdim=*/false, at::kFloat);
    }
  }

  Verification do_verify() override {
    result_.fill_(std::numeric_limits<double>::quiet_NaN());
    enqueue();
    result_value_ = result_.item<double>();
    const std::vector<float> terms = host_terms();
    const double exact = reference();
    relative_error_ = std::abs(result_value_ - exact) / exact;
    if (!is_aten()) {
      return exact_verdict(result_value_, static_cast<double>(host_sum(terms)),
                           "the same sum on the host, rounded after every operation");
    }
    const double n = static_cast<double>(config_.n);
    const double allowed = std::min(n, kLambda * std::sqrt(n)) * unit_roundoff(config_.accumulator);
    // The condition is not `error > allowed`, which would accept a NaN.
    const bool passed = relative_error_ <= allowed;
    return {.passed = passed,
            .reference = fmt::format("float64, within min(n, {} sqrt(n)) roundings", kLambda),
            .worst_error = passed ? relative_error_ / allowed : kWorstErrorCap,
            .worst_where = "result",
            .message = passed ? ""
                              : fmt::format("the result is {}, in float64 {}: a relative error of {:.3g} where {:.3g} "
                                            "is allowed",
                                            result_value_, exact, relative_error_, allowed)};
  }

  /// Returns the terms of the sum; products are computed in float32.
  [[nodiscard]] std::vector<float> host_terms() const {
    const at::Tensor a = host_values(a_);
    std::vector<float> terms(a.const_data_ptr<float>(), a.const_data_ptr<float>() + config_.n);
    if (!is_dot()) return terms;
    const at::Tensor b = host_values(b_);
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= b.const_data_ptr<float>()[i];
    return terms;
  }

  /// Returns the sum in float64, with products in float64. The terms are positive, so that the order costs at most n
  /// 2^-53 of the sum.
  [[nodiscard]] double reference() const {
    const at::Tensor a = a_.to(at::kDouble);
    return (is_dot() ? a.mul(b_.to(at::kDouble)) : a).sum().item<double>();
  }

  [[nodiscard]] float host_sum(std::span<const float> terms) const {
    switch (order_of(config_.method)) {
      case kernels::SumOrder::kPairwise:
        return pairwise_sum(terms, kernels::kPairwiseLanes, config_.accumulator);
      case kernels::SumOrder::kKahan:
        return kahan_sum(terms, config_.accumulator);
      case kernels::SumOrder::kSequential:
        break;
    }
    return sequential_sum(terms, config_.accumulator);
  }

  AccumulationConfig config_;
  at::Tensor a_, b_;   // [n]
  at::Tensor result_;  // scalar, float32
  double result_value_{}, relative_error_{};
};

}  // namespace

std::unique_ptr<Case> make_repeated_sum(const AccumulationConfig& config) {
  return std::make_unique<RepeatedSum>(config);
}

std::unique_ptr<Case> make_vector_sum(const AccumulationConfig& config) { return std::make_unique<VectorSum>(config); }

}  // namespace tbench::model

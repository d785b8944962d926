// The course's sums: 0.01 added n times to a scalar by eager additions, `s += x`, in every pair of formats.
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "operations.hpp"
#include "tbench/model/execution_scope.hpp"
#include "tbench/model/operation/host_sums.hpp"

namespace tbench::model {
namespace {

class RepeatedSum final : public Operation {
 public:
  explicit RepeatedSum(const AccumulationConfig& config) : config_{config} {}

  std::optional<std::string> unsupported_reason() const override { return format_unsupported_reason(config_); }
  Work work() const override {
    return {.flop = {static_cast<double>(config_.n)}, .tokens = 0, .bytes = 0, .ceiling = {}};
  }
  std::map<std::string, double> counters() override {
    return {{"result", result_}, {"relative_error", relative_error_}};
  }

 private:
  void do_build() override {
    const auto options = at::TensorOptions{}.device(torch_device(config_.device));
    addend_ = at::scalar_tensor(kRepeatedAddend, options.dtype(storage_dtype(config_.input)));
    sum_ = at::zeros({}, options.dtype(storage_dtype(config_.accumulator)));
  }

  void do_launch() override {
    sum_.zero_();
    if (config_.method == AccumulationMethod::kCastUp) {
      for (std::int64_t i = 0; i < config_.n; ++i) sum_.add_(addend_.to(sum_.scalar_type()));
      return;
    }
    for (std::int64_t i = 0; i < config_.n; ++i) sum_.add_(addend_);
  }

  Verification do_verify() override {
    sum_.fill_(std::numeric_limits<double>::quiet_NaN());
    do_launch();
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

}  // namespace

std::unique_ptr<Operation> make_repeated_sum(const AccumulationConfig& config) {
  return std::make_unique<RepeatedSum>(config);
}

}  // namespace tbench::model

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/mm.h>

#include "model/operations/gemm/implementation.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

class AtenGemm final : public GemmProduct {
 public:
  explicit AtenGemm(const GemmOperands& operands) : operands_{operands}, w_transposed_{operands.w.t()} {}

  void launch() override {
    const at::NoGradGuard no_grad;
    if (operands_.x_scale.defined()) {
      at::_scaled_mm_out(operands_.y, operands_.x, w_transposed_, operands_.x_scale, operands_.w_scale, /*bias=*/{},
                         /*scale_result=*/{}, operands_.y.scalar_type(), /*use_fast_accum=*/false);
      return;
    }
    const Tf32Scope tf32{common_precision(operands_.config.precision).value()};
    at::mm_out(operands_.y, operands_.x, w_transposed_);
  }

 private:
  GemmOperands operands_;
  at::Tensor w_transposed_;  // [k, n]
};

}  // namespace

GemmImpl aten_gemm_impl() {
  return {.name = "aten",
          .unsupported_reason = nullptr,
          .make = [](const GemmOperands& operands) -> std::unique_ptr<GemmProduct> {
            return std::make_unique<AtenGemm>(operands);
          }};
}

}  // namespace tbench::model

// Matrix products of two square matrices, as ATen runs them with cuBLAS: the largest rate of a precision.
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "parts.hpp"
#include "tbench/model/compare.hpp"
#include "tbench/model/execution_scope.hpp"
#include "tbench/model/operation/data.hpp"
#include "tbench/model/operation/trial.hpp"
#include "tbench/model/precision_scope.hpp"

namespace tbench::model {
namespace {

constexpr int kFirstFp8Capability = 89;  // Ada

struct ProductKind {
  std::string_view what;
  at::ScalarType input;
  at::ScalarType output;
  std::optional<Precision> precision;  // nothing for fp8
  Tolerance tolerance;
};

// Errors of an element of a sum of k products of normal values, whose rms is sqrt(k). Inputs are exact to the reference
// but for TF32, which rounds each to 11 bits: errors of 2^-12 / sqrt(3) times 2 / sqrt(2) of the rms, 2e-4, and five
// times that in the worst of 10^5 elements. float32 sums of 8,192 terms: 2^-24 for each of sqrt(k) steps of a random
// walk, 5e-6. Results are rounded to 9 (bf16) or 12 bits (fp16); both may add parts of a sum in their own precision.
// fp8 with fast accumulation keeps some 14 bits of a sum, whose terms lose up to 2^-13 each.
constexpr std::array kProducts{
    ProductKind{"gemm_fp32", at::kFloat, at::kFloat, Precision::kFp32, {.relative = 1e-5, .of_rms = 5e-5}},
    ProductKind{"gemm_tf32", at::kFloat, at::kFloat, Precision::kTf32, {.relative = 1e-3, .of_rms = 4e-3}},
    ProductKind{"gemm_bf16", at::kBFloat16, at::kBFloat16, Precision::kBf16, {.relative = 8e-3, .of_rms = 8e-3}},
    ProductKind{"gemm_fp16", at::kHalf, at::kHalf, Precision::kFp16, {.relative = 2e-3, .of_rms = 8e-3}},
    ProductKind{"gemm_fp8_e4m3", at::kFloat8_e4m3fn, at::kBFloat16, std::nullopt, {.relative = 8e-3, .of_rms = 5e-2}},
};

const ProductKind& product_kind(std::string_view what) {
  return *std::ranges::find(kProducts, what, &ProductKind::what);
}

class ProductCeiling final : public Operation {
 public:
  explicit ProductCeiling(CeilingConfig config) : config_{std::move(config)}, kind_{product_kind(config_.what)} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    if (kind_.precision) return device_unsupported_reason(config_.device, *kind_.precision);
    if (auto reason = needs_gpu_reason(config_)) return reason;
    const auto* gpu = at::cuda::getCurrentDeviceProperties();
    if (gpu->major * 10 + gpu->minor >= kFirstFp8Capability) return std::nullopt;
    return fmt::format("fp8 needs compute capability 8.9, the GPU has {}.{}", gpu->major, gpu->minor);
  }
  [[nodiscard]] std::int64_t least_bytes() const override {
    const std::int64_t n = square();
    return n * n * static_cast<std::int64_t>(2 * c10::elementSize(kind_.input) + c10::elementSize(kind_.output));
  }
  [[nodiscard]] Work work() const override {
    const auto n = static_cast<double>(square());
    return {.flop = {2 * n * n * n}, .tokens = 0};
  }
  [[nodiscard]] std::map<std::string, std::string> findings() override { return {{"implementation", chosen_.name}}; }

 private:
  [[nodiscard]] std::int64_t square() const { return ceiling_sizes(config_).square; }

  void do_build() override {
    const std::int64_t n = square();
    a_ = seeded_normal({n, n}, kind_.input, config_.device, config_.seed, 0);
    b_ = seeded_normal({n, n}, kind_.input, config_.device, config_.seed, 1);
    c_ = at::empty({n, n}, a_.options().dtype(kind_.output));
    if (!kind_.precision) {
      chosen_ = {"_scaled_mm, B transposed, fast accumulation",
                 [this, one = at::ones({}, a_.options().dtype(at::kFloat))] {
                   at::_scaled_mm_out(c_, a_, b_.t(), one, one, /*bias=*/{}, /*scale_result=*/{}, kind_.output,
                                      /*use_fast_accum=*/true);
                 }};
      is_transposed_ = true;
      return;
    }
    std::vector<Candidate> candidates{{"mm, B transposed", [this] { multiply(b_.t()); }}};
    if (config_.device == DeviceKind::kCuda) candidates.push_back({"mm", [this] { multiply(b_); }});
    chosen_ = fastest_of(std::move(candidates));
    is_transposed_ = chosen_.name != "mm";
  }

  void multiply(const at::Tensor& b) {
    const Tf32Scope tf32{*kind_.precision};
    at::mm_out(c_, a_, b);
  }

  /// Some rows of the product, those at both ends among them, in float64: all of them would take far longer than the
  /// products that are timed.
  Verification do_verify() override {
    c_.fill_(std::numeric_limits<double>::quiet_NaN());
    do_launch();
    constexpr std::int64_t kRows = 16;
    const std::int64_t n = a_.size(0);
    const std::int64_t count = std::min(kRows, n);
    const auto stride = (n - 1) / std::max<std::int64_t>(count - 1, 1);
    at::Tensor rows = at::arange(count, a_.options().dtype(at::kLong)).mul(stride);
    rows[count - 1] = n - 1;
    // Indexing knows no fp8.
    const auto chosen = [&](const at::Tensor& tensor) {
      return tensor.to(at::kFloat).index_select(0, rows).to(at::kDouble);
    };
    const at::Tensor b = b_.to(at::kFloat).to(at::kDouble);
    Comparison comparison;
    comparison.add("product", chosen(c_), at::mm(chosen(a_), is_transposed_ ? b.t() : b), kind_.tolerance);
    return comparison.finish(fmt::format("float64, {} of {} rows", count, n));
  }
  void do_launch() override { chosen_.launch(); }

  CeilingConfig config_;
  const ProductKind& kind_;
  at::Tensor a_, b_, c_;  // [square, square]; what is multiplied is a and b, or a and b transposed
  bool is_transposed_{};
  Candidate chosen_;
};

}  // namespace

std::optional<Precision> product_precision(std::string_view what) {
  const auto* const found = std::ranges::find(kProducts, what, &ProductKind::what);
  return found == kProducts.end() ? std::nullopt : found->precision;
}

std::unique_ptr<Operation> make_product_ceiling(const CeilingConfig& config) {
  return std::make_unique<ProductCeiling>(config);
}

}  // namespace tbench::model

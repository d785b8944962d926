#include "tbench/model/gemm_case.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "model/operations/gemm/implementation.hpp"
#include "model/operations/gemm/verify.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

struct GemmPrecisionRow {
  GemmPrecision precision;
  std::string_view name;
  std::optional<Precision> common;
  at::ScalarType input;
  at::ScalarType output;
};

constexpr std::array<GemmPrecisionRow, kAllGemmPrecisions.size()> kGemmPrecisions{{
    {GemmPrecision::kFp32, "fp32", Precision::kFp32, at::kFloat, at::kFloat},
    {GemmPrecision::kTf32, "tf32", Precision::kTf32, at::kFloat, at::kFloat},
    {GemmPrecision::kBf16, "bf16", Precision::kBf16, at::kBFloat16, at::kBFloat16},
    {GemmPrecision::kFp16, "fp16", Precision::kFp16, at::kHalf, at::kHalf},
    {GemmPrecision::kFp8E4m3, "fp8_e4m3", std::nullopt, at::kFloat8_e4m3fn, at::kBFloat16},
}};

const GemmPrecisionRow& gemm_row(GemmPrecision precision) {
  return kGemmPrecisions.at(static_cast<std::size_t>(precision));
}

/// The largest finite number of e4m3.
constexpr double kLargestFp8 = 448.0;
/// Extents of fp8 operands have to be multiples of 16 bytes, and so of elements, in cuBLASLt.
constexpr std::int64_t kFp8Alignment = 16;
constexpr int kFp8Major = 8, kFp8Minor = 9;  // the first with fp8 tensor cores (Ada)

std::optional<std::string> fp8_unsupported_reason(const GemmConfig& config) {
  if (config.device == DeviceKind::kCpu) return "fp8_e4m3 is measured on GPUs only";
  if (cuda_device_count() == 0) return "no CUDA device";
  const auto* properties = at::cuda::getCurrentDeviceProperties();
  if (std::pair{properties->major, properties->minor} < std::pair{kFp8Major, kFp8Minor}) {
    return fmt::format("fp8_e4m3 needs compute capability {}.{}, the GPU has {}.{}", kFp8Major, kFp8Minor,
                       properties->major, properties->minor);
  }
  if (config.n % kFp8Alignment != 0 || config.k % kFp8Alignment != 0) {
    return fmt::format("fp8_e4m3 needs n and k that are multiples of {}, not {} and {}", kFp8Alignment, config.n,
                       config.k);
  }
  return std::nullopt;
}

const Registry<GemmImpl>& gemm_impls() {
  static const Registry<GemmImpl> impls{"impl",
                                        {aten_gemm_impl(), cublaslt_heuristic_gemm_impl(), cublaslt_best_gemm_impl()}};
  return impls;
}

const GemmImpl& checked_gemm_impl(const GemmConfig& config) {
  const GemmImpl& impl = gemm_impls().at(config.impl);
  for (const std::int64_t extent : {config.m, config.n, config.k}) {
    if (extent <= 0) throw UsageError{fmt::format("gemm: the extent {} is not positive", extent)};
  }
  return impl;
}

class GemmCase final : public OperationCase {
 public:
  explicit GemmCase(const GemmConfig& config)
      : OperationCase{config.device}, config_{config}, impl_{checked_gemm_impl(config)} {}

  std::optional<std::string> unsupported_reason() const override {
    const std::optional<Precision> precision = common_precision(config_.precision);
    auto reason = precision ? device_unsupported_reason(config_.device, *precision) : fp8_unsupported_reason(config_);
    if (!reason && impl_.unsupported_reason != nullptr) reason = impl_.unsupported_reason(config_);
    return reason;
  }

  std::int64_t min_bytes() const override {
    const auto [m, n, k] = std::tuple{config_.m, config_.n, config_.k};
    const auto bytes = [](at::ScalarType type) { return static_cast<std::int64_t>(c10::elementSize(type)); };
    return (m * k + n * k) * bytes(gemm_row(config_.precision).input) +
           m * n * bytes(gemm_row(config_.precision).output);
  }

  Work work() const override {
    const Flop products{static_cast<double>(config_.m) * static_cast<double>(config_.n) *
                        static_cast<double>(config_.k)};
    return {.flop = products * 2.0, .tokens = 0};
  }

  std::map<std::string, double> counters() override {
    std::map<std::string, double> counters = built(product_).counters();
    if (relative_error_) counters["relative_error"] = *relative_error_;
    return counters;
  }
  std::map<std::string, std::string> labels() override { return built(product_).labels(); }

 private:
  void do_build() override {
    product_.reset();
    operands_ = make_gemm_operands(config_);
    product_ = impl_.make(operands_);
  }

  Verification do_verify() override {
    GemmProduct& product = built(product_);
    operands_.y.fill_(std::numeric_limits<double>::quiet_NaN());
    product.launch();
    GemmVerdict verdict = verify_gemm(operands_);
    relative_error_ = verdict.relative_error;
    return std::move(verdict.verification);
  }

  void enqueue() override { built(product_).launch(); }

  GemmConfig config_;
  const GemmImpl& impl_;
  GemmOperands operands_;
  std::unique_ptr<GemmProduct> product_;
  std::optional<double> relative_error_;
};

/// What values are divided by to have their largest magnitude at kLargestFp8.
at::Tensor fp8_scale(const at::Tensor& values) { return values.abs().amax().div(kLargestFp8); }

}  // namespace

std::string_view to_string(GemmPrecision precision) { return gemm_row(precision).name; }

std::optional<GemmPrecision> parse_gemm_precision(std::string_view text) {
  const auto* const row = std::ranges::find(kGemmPrecisions, text, &GemmPrecisionRow::name);
  return row == kGemmPrecisions.end() ? std::nullopt : std::optional{row->precision};
}

std::optional<Precision> common_precision(GemmPrecision precision) { return gemm_row(precision).common; }

std::vector<std::string> gemm_impl_names() { return gemm_impls().names(); }

GemmOperands make_gemm_operands(const GemmConfig& config) {
  const GemmPrecisionRow& row = gemm_row(config.precision);
  const bool is_fp8 = config.precision == GemmPrecision::kFp8E4m3;
  const auto normal = [&](std::int64_t rows, std::uint64_t index) {
    return seeded_normal({rows, config.k}, is_fp8 ? at::kFloat : row.input, config.device, config.seed, index);
  };
  GemmOperands operands{
      .config = config,
      .x = normal(config.m, 0),
      .w = normal(config.n, 1),
      .y = at::empty({config.m, config.n}, at::TensorOptions{}.device(torch_device(config.device)).dtype(row.output)),
      .x_scale = {},
      .w_scale = {}};
  if (is_fp8) {
    operands.x_scale = fp8_scale(operands.x);
    operands.w_scale = fp8_scale(operands.w);
    operands.x = operands.x.div(operands.x_scale).to(row.input);
    operands.w = operands.w.div(operands.w_scale).to(row.input);
  }
  return operands;
}

std::unique_ptr<OperationCase> make_gemm_operation(const GemmConfig& config) {
  return std::make_unique<GemmCase>(config);
}

std::unique_ptr<Case> make_gemm_case(const GemmConfig& config) { return make_gemm_operation(config); }

}  // namespace tbench::model

#include "tbench/model/gemm_case.hpp"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/operations/gemm/implementation.hpp"
#include "model/operations/gemm/verify.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/output_checker.hpp"
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
/// Elements of which the extents of fp8 operands have to be multiples: cuBLASLt requires multiples of 16 bytes.
constexpr std::int64_t kFp8Alignment = 16;
constexpr int kFp8Major = 8, kFp8Minor = 9;  // the first compute capability with fp8 tensor cores (Ada)

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
  LaunchChecker* launch_checker() override { return checker_ ? &*checker_ : nullptr; }

 private:
  void do_build() override {
    product_.reset();
    operands_ = make_gemm_operands(config_);
    product_ = impl_.make(operands_);
    if (product_->makes_y()) operands_.y.reset();
    last_y_.reset();
    checker_.reset();
    if (impl_.is_watched) checker_.emplace(watched(), config_.device);
  }

  [[nodiscard]] OutputChecker::Subject watched();

  Verification do_verify() override {
    GemmVerdict verdict = verify_gemm_product(operands_, built(product_), config_.seed);
    relative_error_ = verdict.relative_error;
    return std::move(verdict.verification);
  }

  std::optional<Verification> do_verify_again() override {
    GemmVerdict verdict = verify_gemm_product(operands_, built(product_), config_.seed + 1);
    fill_gemm_operands(operands_, config_.seed);
    return std::move(verdict.verification);
  }

  void enqueue() override {
    last_y_.reset();  // lets the allocator reuse its memory
    built(product_).launch();
  }

  GemmConfig config_;
  const GemmImpl& impl_;
  GemmOperands operands_;
  std::unique_ptr<GemmProduct> product_;
  std::optional<OutputChecker> checker_;
  at::Tensor last_y_;  // y of a product that makes its own, kept only for the checker
  std::optional<double> relative_error_;
};

OutputChecker::Subject GemmCase::watched() {
  return {.operands =
              [this] {
                return std::vector<DrawnOperand>{{.values = operands_.x, .divisor = operands_.x_scale},
                                                 {.values = operands_.w, .divisor = operands_.w_scale}};
              },
          .outputs =
              [this] {
                if (!product_->makes_y()) return OutputChecker::Tensors{operands_.y};
                if (at::Tensor y = product_->take_y(); y.defined()) last_y_ = std::move(y);
                return OutputChecker::Tensors{last_y_};
              },
          .compare_rows =
              [this](const HiddenRows& hidden, Comparison& comparison) {
                add_gemm_rows(operands_, "rows of y of " + hidden.launch, hidden.rows[0], hidden.values[0], comparison);
              },
          .compare_digests =
              [this](const RowDigests& sums, Comparison& comparison) {
                add_gemm_sums(operands_, "y r of random signs r of " + sums.launch, sums.signs[0], sums.digests[0],
                              comparison);
              },
          .compare =
              [this](const OutputChecker::Tensors& outputs) {
                GemmOperands copied = operands_;
                copied.y = outputs.front();
                copied.config.seed = hidden_number();  // seed of the rows and columns that are compared
                return verify_gemm(copied).verification;
              }};
}

/// Returns the divisor that brings the largest magnitude of the values to kLargestFp8.
at::Tensor fp8_scale(const at::Tensor& values) { return values.abs().amax().div(kLargestFp8); }

/// The inputs' buffer indexes for seeded_normal().
enum GemmInputIndex : std::uint64_t { kX, kW };

struct GemmInput {
  at::Tensor values;  // [m or n, k]
  at::Tensor scale;   // [1]; undefined except for fp8
};

GemmInput gemm_input(const GemmConfig& config, GemmInputIndex index) {
  const at::ScalarType type = gemm_row(config.precision).input;
  const bool is_fp8 = config.precision == GemmPrecision::kFp8E4m3;
  const at::Tensor values = seeded_normal({index == kX ? config.m : config.n, config.k}, is_fp8 ? at::kFloat : type,
                                          config.device, config.seed, index);
  if (!is_fp8) return {.values = values, .scale = {}};
  const at::Tensor scale = fp8_scale(values);
  return {.values = values.div(scale).to(type), .scale = scale};
}

}  // namespace

Registry<GemmImpl>& gemm_impls() {
  static Registry<GemmImpl> impls{"impl",
                                  {aten_gemm_impl(), cublaslt_heuristic_gemm_impl(), cublaslt_best_gemm_impl()}};
  return impls;
}

std::string_view to_string(GemmPrecision precision) { return gemm_row(precision).name; }

std::optional<GemmPrecision> parse_gemm_precision(std::string_view text) {
  const auto* const row = std::ranges::find(kGemmPrecisions, text, &GemmPrecisionRow::name);
  return row == kGemmPrecisions.end() ? std::nullopt : std::optional{row->precision};
}

std::optional<Precision> common_precision(GemmPrecision precision) { return gemm_row(precision).common; }

std::vector<std::string> gemm_impl_names() { return gemm_impls().names(); }

GemmOperands make_gemm_operands(const GemmConfig& config) {
  const auto options = at::TensorOptions{}.device(torch_device(config.device)).dtype(gemm_row(config.precision).output);
  GemmInput x = gemm_input(config, kX), w = gemm_input(config, kW);
  return {.config = config,
          .x = std::move(x.values),
          .w = std::move(w.values),
          .y = at::empty({config.m, config.n}, options),
          .x_scale = std::move(x.scale),
          .w_scale = std::move(w.scale)};
}

void fill_gemm_operands(GemmOperands& operands, std::uint64_t seed) {
  operands.config.seed = seed;
  for (const GemmInputIndex index : {kX, kW}) {
    const GemmInput input = gemm_input(operands.config, index);
    (index == kX ? operands.x : operands.w).copy_(input.values);
    if (input.scale.defined()) (index == kX ? operands.x_scale : operands.w_scale).copy_(input.scale);
  }
}

std::optional<std::string> changed_gemm_operand(const GemmOperands& operands) {
  const auto differ = [](const at::Tensor& a, const at::Tensor& b) { return a.defined() && !has_same_bytes(a, b); };
  for (const GemmInputIndex index : {kX, kW}) {
    const GemmInput input = gemm_input(operands.config, index);
    if (differ(index == kX ? operands.x : operands.w, input.values)) return index == kX ? "x" : "w";
    if (differ(index == kX ? operands.x_scale : operands.w_scale, input.scale)) {
      return index == kX ? "the scale of x" : "the scale of w";
    }
  }
  return std::nullopt;
}

std::unique_ptr<OperationCase> make_gemm_operation(const GemmConfig& config) {
  return std::make_unique<GemmCase>(config);
}

std::unique_ptr<Case> make_gemm_case(const GemmConfig& config) { return make_gemm_operation(config); }

}  // namespace tbench::model

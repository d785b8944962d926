// Matrix products in which every element is a sum of n products, in each accumulator format.
#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/operations/accumulation/sums.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/cublaslt.hpp"

namespace tbench::model {
namespace {

constexpr int kLongMatmulCandidates = 64;
constexpr std::size_t kLongMatmulWorkspaceBytes = std::size_t{32} << 20;  // cuBLAS's recommendation for Hopper

// The allowed error of a norm, relative to the norm of the result, is derived for normal factors: every product is as
// often positive as negative, and a sum of k products has the size of sqrt(k). In float32, k u is allowed: tensor cores
// truncate, so that all errors may have one sign. In float16, k u exceeds 1 from 2,048 terms on and would accept any
// result; lambda sqrt(k) u is allowed instead, for independent roundings to nearest (Higham, Mary 2019). The rounding
// of the result is added.
constexpr double kLambdaOfMatmul = 4.0;
// The allowed error of an element, relative to the norm's share per element: the largest of 10^6 normal errors is at 5
// standard deviations.
constexpr double kElementOverNorm = 8.0;

/// Makes ATen's 16-bit products add in the requested format, also with split-K.
class AccumulatorScope {
 public:
  explicit AccumulatorScope(Precision accumulator)
      : half_before_{at::globalContext().allowFP16AccumulationCuBLAS()},
        half_reduction_before_{at::globalContext().allowFP16ReductionCuBLAS()},
        bfloat_reduction_before_{at::globalContext().allowBF16ReductionCuBLAS()} {
    at::globalContext().setAllowFP16AccumulationCuBLAS(accumulator == Precision::kFp16);
    at::globalContext().setAllowFP16ReductionCuBLAS(false);
    at::globalContext().setAllowBF16ReductionCuBLAS(false);
  }
  ~AccumulatorScope() {
    at::globalContext().setAllowFP16AccumulationCuBLAS(half_before_);
    at::globalContext().setAllowFP16ReductionCuBLAS(allows_short(half_reduction_before_),
                                                    splits(half_reduction_before_));
    at::globalContext().setAllowBF16ReductionCuBLAS(allows_short(bfloat_reduction_before_),
                                                    splits(bfloat_reduction_before_));
  }
  AccumulatorScope(const AccumulatorScope&) = delete;
  AccumulatorScope& operator=(const AccumulatorScope&) = delete;

 private:
  static bool allows_short(at::CuBLASReductionOption option) {
    return option == at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK;
  }
  static bool splits(at::CuBLASReductionOption option) {
    return option != at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK;
  }

  bool half_before_;
  at::CuBLASReductionOption half_reduction_before_, bfloat_reduction_before_;
};

cudaDataType_t cuda_type(at::ScalarType dtype) {
  if (dtype == at::kFloat) return CUDA_R_32F;
  return dtype == at::kHalf ? CUDA_R_16F : CUDA_R_16BF;
}

bool splits_sums(const cuda::MatmulAlgorithm& algorithm) {
  std::int32_t parts{};
  std::size_t written{};
  cuda::check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm.algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                                   sizeof(parts), &written),
              "cublasLtMatmulAlgoConfigGetAttribute", __FILE__);
  return parts != 0 && parts != 1;  // -1: the kernel decides
}

/// One cuBLASLt product and its algorithm: the heuristic's first algorithm whose sums have all n terms. If there is
/// none, the heuristic's first algorithm, whose partial sums have the accumulator's format, too.
class LtProduct {
 public:
  explicit LtProduct(const cuda::MatmulProblem& problem) : matmul_{library_, problem} {
    const std::vector<cuda::MatmulAlgorithm> found =
        matmul_.algorithms(kLongMatmulCandidates, kLongMatmulWorkspaceBytes, cuda::PartialSums::kComputeType);
    if (found.empty()) throw std::runtime_error{cuda::describe(problem) + ": cuBLASLt has no algorithm"};
    const auto whole = std::ranges::find_if_not(found, &splits_sums);
    is_split_ = whole == found.end();
    algorithm_ = is_split_ ? found.front() : *whole;
    workspace_ = at::empty({static_cast<std::int64_t>(std::max<std::size_t>(algorithm_.workspace_bytes, 1))},
                           at::TensorOptions{}.device(at::kCUDA).dtype(at::kByte));
  }
  void launch(const at::Tensor& x, const at::Tensor& w, const at::Tensor& y) const {
    matmul_.launch(algorithm_,
                   {.x = x.const_data_ptr(),
                    .w = w.const_data_ptr(),
                    .y = y.mutable_data_ptr(),
                    .workspace = workspace_.mutable_data_ptr(),
                    .workspace_bytes = workspace_.nbytes()},
                   c10::cuda::getCurrentCUDAStream());
  }
  [[nodiscard]] std::map<std::string, std::string> labels() const {
    return {{"algorithm", cuda::describe(algorithm_)}, {"sums", is_split_ ? "split" : "whole"}};
  }

 private:
  cuda::CublasLt library_;
  cuda::Matmul matmul_;
  cuda::MatmulAlgorithm algorithm_;
  bool is_split_{};
  at::Tensor workspace_;
};

class LongMatmul final : public OperationCase {
 public:
  explicit LongMatmul(const AccumulationConfig& config) : OperationCase{config.device}, config_{config} {}

  std::optional<std::string> unsupported_reason() const override;
  std::int64_t min_bytes() const override {
    const auto element = static_cast<std::int64_t>(c10::elementSize(storage_dtype(config_.input)));
    return 2 * kMatmulExtent * config_.n * element;
  }
  Work work() const override;
  std::map<std::string, double> counters() override { return {{"relative_error", relative_error_}}; }
  std::map<std::string, std::string> labels() override {
    return product_ ? product_->labels() : std::map<std::string, std::string>{};
  }

 private:
  [[nodiscard]] bool is_aten() const { return config_.method == AccumulationMethod::kAten; }
  void do_build() override;
  void enqueue() override;
  Verification do_verify() override;

  AccumulationConfig config_;
  at::Tensor x_, w_;  // [1024, n] each, like the operands of a linear layer
  at::Tensor y_;      // [1024, 1024] = x w^T; dtype: the input's with ATen, the accumulator's with cuBLASLt
  std::optional<LtProduct> product_;
  double relative_error_{};
};

std::optional<std::string> LongMatmul::unsupported_reason() const {
  if (config_.device == DeviceKind::kCpu && !is_aten()) return "cuBLASLt needs a GPU";
  if (config_.device == DeviceKind::kCpu && config_.accumulator != Precision::kFp32) {
    return "matrix products on a CPU add in fp32";
  }
  return format_unsupported_reason(config_);
}

/// Returns 2 * 1024 * 1024 * n FLOP.
Work LongMatmul::work() const {
  const double flop = 2.0 * static_cast<double>(kMatmulExtent * kMatmulExtent) * static_cast<double>(config_.n);
  return {.flop = {flop}, .tokens = 0, .bytes = 0};
}

void LongMatmul::do_build() {
  const at::ScalarType input = storage_dtype(config_.input);
  product_.reset();
  x_ = seeded_normal({kMatmulExtent, config_.n}, input, config_.device, config_.seed, 0);
  w_ = seeded_normal({kMatmulExtent, config_.n}, input, config_.device, config_.seed, 1);
  const at::ScalarType output = is_aten() ? input : storage_dtype(config_.accumulator);
  y_ = at::empty({kMatmulExtent, kMatmulExtent}, x_.options().dtype(output));
  if (is_aten()) return;
  product_.emplace(cuda::MatmulProblem{
      .m = kMatmulExtent,
      .n = kMatmulExtent,
      .k = config_.n,
      .input_type = cuda_type(input),
      .output_type = cuda_type(output),
      .compute_type = config_.accumulator == Precision::kFp16 ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F});
}

void LongMatmul::enqueue() {
  if (product_) return product_->launch(x_, w_, y_);
  const AccumulatorScope accumulator{config_.accumulator};
  const Tf32Scope no_tf32{Precision::kFp32};
  at::mm_out(y_, x_, w_.t());
}

Verification LongMatmul::do_verify() {
  y_.fill_(std::numeric_limits<double>::quiet_NaN());
  enqueue();
  const at::Tensor actual = y_.to(at::kDouble);
  const at::Tensor reference = at::mm(x_.to(at::kDouble), w_.to(at::kDouble).t());
  relative_error_ = actual.sub(reference).norm().div(reference.norm()).item<double>();
  const double n = static_cast<double>(config_.n);
  const bool is_half = config_.accumulator == Precision::kFp16;
  const double sums = (is_half ? std::min(n, kLambdaOfMatmul * std::sqrt(n)) : n) * unit_roundoff(config_.accumulator);
  const double rounding = unit_roundoff(is_aten() ? config_.input : config_.accumulator);
  Comparison comparison;
  comparison.add(
      "y", actual, reference,
      {.relative = rounding, .of_rms = kElementOverNorm * sums, .absolute = 0.0, .of_norm = sums + rounding});
  return comparison.finish(fmt::format("float64, within {} roundings of a sum's size",
                                       is_half ? fmt::format("min(n, {} sqrt(n))", kLambdaOfMatmul) : "n"));
}

}  // namespace

std::unique_ptr<Case> make_long_matmul(const AccumulationConfig& config) {
  return std::make_unique<LongMatmul>(config);
}

}  // namespace tbench::model

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "model/operations/gemm/implementation.hpp"
#include "tbench/cuda/cublaslt.hpp"
#include "tbench/cuda/matmul_autotune.hpp"

namespace tbench::model {
namespace {

cuda::MatmulProblem matmul_problem(const GemmConfig& config) {
  cuda::MatmulProblem problem{.m = config.m,
                              .n = config.n,
                              .k = config.k,
                              .input_type = CUDA_R_32F,
                              .output_type = CUDA_R_32F,
                              .compute_type = CUBLAS_COMPUTE_32F};
  switch (config.precision) {
    case GemmPrecision::kFp32:
      break;
    case GemmPrecision::kTf32:
      problem.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32;
      break;
    case GemmPrecision::kBf16:
      problem.input_type = problem.output_type = CUDA_R_16BF;
      break;
    case GemmPrecision::kFp16:
      problem.input_type = problem.output_type = CUDA_R_16F;
      break;
    case GemmPrecision::kFp8E4m3:
      problem.input_type = CUDA_R_8F_E4M3;
      problem.output_type = CUDA_R_16BF;
      break;
  }
  return problem;
}

cuda::MatmulProblem matmul_problem(const GemmOperands& operands) {
  cuda::MatmulProblem problem = matmul_problem(operands.config);
  if (operands.x_scale.defined()) {
    problem.x_scale = operands.x_scale.const_data_ptr<float>();
    problem.w_scale = operands.w_scale.const_data_ptr<float>();
  }
  return problem;
}

/// Returns the algorithms that LibTorch lets cuBLAS choose from by default. With split-K, their partial sums may have
/// the output's type.
std::vector<cuda::MatmulAlgorithm> matmul_candidates(const cuda::Matmul& matmul, int max_count) {
  return matmul.algorithms(max_count, cuda::kMatmulWorkspaceBytes, cuda::PartialSums::kAnyType);
}

std::optional<std::string> cublaslt_unsupported_reason(const GemmConfig& config) {
  if (config.device == DeviceKind::kCpu) return "cuBLASLt runs on GPUs only";
  const cuda::CublasLt library;
  const cuda::Matmul matmul{library, matmul_problem(config)};
  if (!matmul_candidates(matmul, 1).empty()) return std::nullopt;
  return "cuBLASLt has no algorithm for " + cuda::describe(matmul.problem());
}

class CublasLtGemm final : public GemmProduct {
 public:
  CublasLtGemm(const GemmOperands& operands, bool autotuned)
      : operands_{operands},
        workspace_{at::empty({cuda::kMatmulWorkspaceBytes}, operands.x.options().dtype(at::kByte))},
        matmul_{library_, matmul_problem(operands)} {
    const std::vector<cuda::MatmulAlgorithm> candidates =
        matmul_candidates(matmul_, autotuned ? cuda::kAutotuneCandidates : 1);
    if (candidates.empty())
      throw std::runtime_error{"cuBLASLt has no algorithm for " + cuda::describe(matmul_.problem())};
    algorithm_ = candidates.front();
    if (autotuned) choose(candidates);
  }

  void launch() override { matmul_.launch(algorithm_, pointers(), c10::cuda::getCurrentCUDAStream().stream()); }

  std::map<std::string, double> counters() const override {
    if (!autotune_) return {};
    return {{"candidates", static_cast<double>(autotune_->timed)}};
  }

  std::map<std::string, std::string> labels() const override {
    std::map<std::string, std::string> labels{{"algorithm", cuda::describe(algorithm_)}};
    if (autotune_) labels["chosen"] = fmt::format("number {} in the heuristic's order", autotune_->fastest + 1);
    return labels;
  }

 private:
  void choose(const std::vector<cuda::MatmulAlgorithm>& candidates) {
    autotune_ = cuda::fastest_algorithm(matmul_, candidates, pointers(), c10::cuda::getCurrentCUDAStream().stream());
    if (!autotune_)
      throw std::runtime_error{"cuBLASLt fails to launch every algorithm that it names for " +
                               cuda::describe(matmul_.problem())};
    algorithm_ = candidates.at(autotune_->fastest);
  }

  [[nodiscard]] cuda::MatmulOperands pointers() const {
    return {.x = operands_.x.const_data_ptr(),
            .w = operands_.w.const_data_ptr(),
            .y = operands_.y.mutable_data_ptr(),
            .workspace = workspace_.mutable_data_ptr(),
            .workspace_bytes = cuda::kMatmulWorkspaceBytes};
  }

  GemmOperands operands_;
  at::Tensor workspace_;
  cuda::CublasLt library_;
  cuda::Matmul matmul_;
  cuda::MatmulAlgorithm algorithm_;
  std::optional<cuda::AutotuneResult> autotune_;
};

template <bool kAutotuned>
std::unique_ptr<GemmProduct> make_cublaslt_gemm(const GemmOperands& operands) {
  return std::make_unique<CublasLtGemm>(operands, kAutotuned);
}

}  // namespace

GemmImpl cublaslt_heuristic_gemm_impl() {
  return {.name = "cublaslt_heuristic",
          .unsupported_reason = &cublaslt_unsupported_reason,
          .make = &make_cublaslt_gemm<false>};
}

GemmImpl cublaslt_best_gemm_impl() {
  return {
      .name = "cublaslt_best", .unsupported_reason = &cublaslt_unsupported_reason, .make = &make_cublaslt_gemm<true>};
}

}  // namespace tbench::model

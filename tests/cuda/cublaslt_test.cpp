// Tests the parts of cuBLASLt's interface that need no GPU: descriptions and errors.
#include "tbench/cuda/cublaslt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr MatmulProblem kProblem{
    .m = 3, .n = 5, .k = 7, .input_type = CUDA_R_16F, .output_type = CUDA_R_32F, .compute_type = CUBLAS_COMPUTE_32F};

TEST(MatmulProblem, IsDescribedWithShapeAndTypes) {
  EXPECT_EQ(describe(kProblem), "y[3, 5] = x[3, 7] w[5, 7]^T, fp16 to fp32, compute type 32F");
  MatmulProblem problem = kProblem;
  problem.input_type = CUDA_R_8F_E4M3;
  problem.output_type = CUDA_R_16BF;
  problem.compute_type = CUBLAS_COMPUTE_32F_FAST_TF32;
  EXPECT_EQ(describe(problem), "y[3, 5] = x[3, 7] w[5, 7]^T, fp8_e4m3 to bf16, compute type 32F_FAST_TF32");
  problem.x_transposed = problem.w_transposed = true;
  EXPECT_EQ(describe(problem), "y[3, 5] = x[7, 3]^T w[7, 5], fp8_e4m3 to bf16, compute type 32F_FAST_TF32");
  problem.multiprocessors = 88;
  EXPECT_EQ(describe(problem),
            "y[3, 5] = x[7, 3]^T w[7, 5], fp8_e4m3 to bf16, compute type 32F_FAST_TF32, for 88 multiprocessors");
  problem = kProblem;
  problem.accumulate = true;
  EXPECT_EQ(describe(problem), "y[3, 5] += x[3, 7] w[5, 7]^T, fp16 to fp32, compute type 32F");
}

TEST(CublasCheck, TheMessageHoldsCallPlaceStatusAndSubject) {
  EXPECT_NO_THROW(TBENCH_CUDA_CHECK(CUBLAS_STATUS_SUCCESS));
  try {
    check(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmul(...)", "here.cpp:7", describe(kProblem));
    FAIL() << "nothing was thrown";
  } catch (const CublasError& error) {
    EXPECT_EQ(error.status(), CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cublasLtMatmul(...) failed at here.cpp:7"),
                                    HasSubstr("CUBLAS_STATUS_NOT_SUPPORTED"), HasSubstr("y[3, 5] = x[3, 7]")));
  }
  EXPECT_THROW(TBENCH_CUDA_CHECK(CUBLAS_STATUS_ALLOC_FAILED), OutOfMemory);
}

TEST(CublasLogFailure, SaysTheStatus) {
  testing::internal::CaptureStderr();
  log_failure(CublasStatus{CUBLAS_STATUS_SUCCESS});
  log_failure(CublasStatus{CUBLAS_STATUS_NOT_INITIALIZED});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "releasing a cuBLASLt handle failed: CUBLAS_STATUS_NOT_INITIALIZED\n");
}

}  // namespace
}  // namespace tbench::cuda

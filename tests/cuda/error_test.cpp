#include "tbench/cuda/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"

namespace tbench::cuda {
namespace {

using testing::HasSubstr;

TEST(Check, SuccessDoesNothing) { EXPECT_NO_THROW(TBENCH_CUDA_CHECK(cudaSuccess)); }

TEST(Check, TheMessageHoldsCallPlaceNameAndRemedy) {
  try {
    TBENCH_CUDA_CHECK(static_cast<cudaError_t>(cudaErrorNoDevice));
    FAIL() << "nothing was thrown";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorNoDevice);
    EXPECT_FALSE(error.context_is_lost());
    EXPECT_THAT(error.what(), HasSubstr("static_cast<cudaError_t>(cudaErrorNoDevice)"));
    EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr("cudaErrorNoDevice ("));
    EXPECT_THAT(error.what(), HasSubstr("CUDA_VISIBLE_DEVICES"));
  }
}

TEST(Check, TooLittleMemoryIsAResultNotAnError) {
  EXPECT_THROW(TBENCH_CUDA_CHECK(cudaErrorMemoryAllocation), OutOfMemory);
}

TEST(Check, AGpuThatTheBuildHasNoCodeForIsAResultNotAnError) {
  try {
    TBENCH_CUDA_CHECK(cudaErrorNoKernelImageForDevice);
    FAIL() << "nothing was thrown";
  } catch (const Unsupported& unsupported) {
    EXPECT_THAT(unsupported.what(), HasSubstr("TBENCH_CUDA_ARCHITECTURES"));
  }
}

TEST(Check, ABadAddressLosesTheContext) {
  try {
    TBENCH_CUDA_CHECK(cudaErrorIllegalAddress);
    FAIL() << "nothing was thrown";
  } catch (const CudaError& error) {
    EXPECT_TRUE(error.context_is_lost());
    EXPECT_THAT(error.what(), HasSubstr("only a new process"));
  }
}

TEST(LosesContext, TellsErrorsApart) {
  EXPECT_TRUE(loses_context(cudaErrorAssert));
  EXPECT_TRUE(loses_context(cudaErrorLaunchFailure));
  EXPECT_TRUE(loses_context(cudaErrorECCUncorrectable));
  EXPECT_FALSE(loses_context(cudaSuccess));
  EXPECT_FALSE(loses_context(cudaErrorInvalidValue));
  EXPECT_FALSE(loses_context(cudaErrorMemoryAllocation));
}

TEST(LogFailure, SaysTheSameErrorOnce) {
  testing::internal::CaptureStderr();
  log_failure(cudaSuccess);
  log_failure(cudaErrorIllegalAddress);
  log_failure(cudaErrorIllegalAddress);
  log_failure(cudaErrorInvalidValue);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("cudaErrorIllegalAddress"));
  EXPECT_THAT(text, HasSubstr("cudaErrorInvalidValue"));
  EXPECT_EQ(text.find("cudaErrorIllegalAddress"), text.rfind("cudaErrorIllegalAddress"));
}

}  // namespace
}  // namespace tbench::cuda

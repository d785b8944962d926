// Tests cuBLASLt on a GPU. Products of small whole numbers are exact in every type, at odd shapes, and with strides and
// scales. The requested compute type is used, and unsupported products are refused.
#include "tbench/cuda/cublaslt.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tbench/cuda/device.hpp"
#include "tbench/cuda/error.hpp"
#include "tbench/cuda/matmul_autotune.hpp"

namespace tbench::cuda {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20U;

class CublasLtOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

/// Returns numbers from -2 to 2 in a pattern that changes if two strides are swapped.
float small_number(std::int64_t row, std::int64_t column, std::int64_t salt) {
  return static_cast<float>((row * 7 + column * 3 + row * column + salt) % 5 - 2);
}

template <class Element>
struct Matrix {
  Matrix(std::int64_t rows_in, std::int64_t columns_in, std::int64_t stride_in)
      : rows{rows_in},
        columns{columns_in},
        stride{stride_in},
        host(static_cast<std::size_t>(rows * stride)),
        device{make_device_memory(host.size() * sizeof(Element))} {}

  Element& at(std::int64_t row, std::int64_t column) { return host[static_cast<std::size_t>(row * stride + column)]; }
  void fill(std::int64_t salt) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) at(i, j) = Element(small_number(i, j, salt));
    }
    upload();
  }
  void fill_with(float value) {
    for (Element& element : host) element = Element(value);
    upload();
  }
  void upload() const {
    TBENCH_CUDA_CHECK(cudaMemcpy(device.get(), host.data(), host.size() * sizeof(Element), cudaMemcpyHostToDevice));
  }
  void download() {
    TBENCH_CUDA_CHECK(cudaMemcpy(host.data(), device.get(), host.size() * sizeof(Element), cudaMemcpyDeviceToHost));
  }

  std::int64_t rows, columns, stride;
  std::vector<Element> host;
  DeviceMemoryBlock device;
};

struct Types {
  cudaDataType_t input, output;
  cublasComputeType_t compute;
};

/// A product and its memory. Every element of Y starts as -1, also between rows.
template <class Input, class Output>
struct Product {
  Product(std::int64_t m, std::int64_t n, std::int64_t k, const Types& types, std::int64_t padding = 0)
      : x{m, k, k + padding},
        w{n, k, k + padding},
        y{m, n, n + padding},
        workspace{make_device_memory(kWorkspaceBytes)},
        problem{.m = m,
                .n = n,
                .k = k,
                .input_type = types.input,
                .output_type = types.output,
                .compute_type = types.compute,
                .x_row_stride = x.stride,
                .w_row_stride = w.stride,
                .y_row_stride = y.stride} {
    x.fill(1);
    w.fill(2);
    y.fill_with(-1.0F);
  }

  [[nodiscard]] MatmulOperands operands() const {
    return {.x = x.device.get(),
            .w = w.device.get(),
            .y = y.device.get(),
            .workspace = workspace.get(),
            .workspace_bytes = kWorkspaceBytes};
  }

  /// Runs the product with the heuristic's first algorithm.
  void run() {
    const Matmul matmul{library, problem};
    const auto algorithms = matmul.algorithms(1, kWorkspaceBytes, PartialSums::kComputeType);
    ASSERT_FALSE(algorithms.empty()) << describe(problem);
    matmul.launch(algorithms.front(), operands(), nullptr);
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    y.download();
  }

  void expect_exact(float factor = 1.0F) {
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t j = 0; j < y.columns; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < x.columns; ++l) sum += small_number(i, l, 1) * small_number(j, l, 2);
        ASSERT_EQ(static_cast<float>(y.at(i, j)), sum * factor) << describe(problem) << " at " << i << ", " << j;
      }
      for (std::int64_t j = y.columns; j < y.stride; ++j) ASSERT_EQ(static_cast<float>(y.at(i, j)), -1.0F);
    }
  }

  CublasLt library;
  Matrix<Input> x, w;
  Matrix<Output> y;
  DeviceMemoryBlock workspace;
  MatmulProblem problem;
};

struct Extents {
  std::int64_t m, n, k, padding;
};
// The sums have at most 64 terms of at most 4: whole numbers up to 256, which are exact in all these types.
constexpr Extents kExtents[]{{1, 1, 1, 0}, {37, 53, 29, 0}, {64, 96, 64, 0}, {5, 3, 64, 8}, {129, 65, 33, 3}};

template <class Input, class Output>
void expect_exact_everywhere(const Types& types) {
  for (const Extents& extents : kExtents) {
    Product<Input, Output> product{extents.m, extents.n, extents.k, types, extents.padding};
    product.run();
    product.expect_exact();
  }
}

TEST_F(CublasLtOnGpu, ProductsAreExactInEveryTypeAtOddShapes) {
  expect_exact_everywhere<float, float>({CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F});
  expect_exact_everywhere<float, float>({CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC});
  expect_exact_everywhere<float, float>({CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32});
  expect_exact_everywhere<__half, __half>({CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F});
  expect_exact_everywhere<__half, __half>({CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F});
  expect_exact_everywhere<__half, float>({CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F});
  expect_exact_everywhere<__nv_bfloat16, __nv_bfloat16>({CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F});
  expect_exact_everywhere<__nv_bfloat16, float>({CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F});
}

TEST_F(CublasLtOnGpu, AnAccumulatingProductIsAddedToY) {
  for (const Extents& extents : kExtents) {
    Product<__nv_bfloat16, float> added{
        extents.m, extents.n, extents.k, {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F}, extents.padding};
    Product<__nv_bfloat16, float> plain{
        extents.m, extents.n, extents.k, {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F}, extents.padding};
    added.problem.accumulate = true;
    added.run();
    plain.run();
    for (std::int64_t i = 0; i < added.y.rows; ++i) {
      for (std::int64_t j = 0; j < added.y.columns; ++j) {
        ASSERT_EQ(added.y.at(i, j), plain.y.at(i, j) - 1.0F) << describe(added.problem) << " at " << i << ", " << j;
      }
    }
  }
}

/// Returns the transposed matrix.
template <class Element>
Matrix<Element> transposed(Matrix<Element>& matrix, std::int64_t padding) {
  Matrix<Element> result{matrix.columns, matrix.rows, matrix.rows + padding};
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) result.at(j, i) = matrix.at(i, j);
  }
  result.upload();
  return result;
}

TEST_F(CublasLtOnGpu, OperandsMayBeStoredTheOtherWayRound) {
  for (const Extents& extents : {Extents{48, 96, 64, 0}, Extents{37, 53, 29, 3}, Extents{8, 16, 40, 8}}) {
    for (const auto& [x_transposed, w_transposed] : {std::pair{false, true}, {true, false}, {true, true}}) {
      Product<__nv_bfloat16, float> product{
          extents.m, extents.n, extents.k, {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F}, extents.padding};
      const auto turn = [&](bool is_transposed, auto& matrix, bool& flag, std::int64_t& stride) {
        if (!is_transposed) return;
        auto other = transposed(matrix, extents.padding);
        flag = true;
        stride = other.stride;
        matrix.device = std::move(other.device);
      };
      turn(x_transposed, product.x, product.problem.x_transposed, product.problem.x_row_stride);
      turn(w_transposed, product.w, product.problem.w_transposed, product.problem.w_row_stride);
      product.run();
      product.expect_exact();
    }
  }
}

bool has_fp8() {
  int major{}, minor{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return major > 8 || (major == 8 && minor >= 9);
}

TEST_F(CublasLtOnGpu, Fp8TakesBothScalesAndEvenExtents) {
  if (!has_fp8()) GTEST_SKIP() << "the GPU has no fp8";
  const DeviceMemoryBlock x_scale = make_device_memory(sizeof(float)), w_scale = make_device_memory(sizeof(float));
  constexpr Types kTypes{CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  const auto with_scales = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Product<__nv_fp8_e4m3, __nv_bfloat16> product{m, n, k, kTypes};
    product.problem.x_scale = static_cast<const float*>(x_scale.get());
    product.problem.w_scale = static_cast<const float*>(w_scale.get());
    return product;
  };
  for (const bool fast : {false, true}) {
    for (const auto& [x, w] : {std::pair{1.0F, 1.0F}, std::pair{4.0F, 1.0F}, std::pair{4.0F, 0.5F}}) {
      TBENCH_CUDA_CHECK(cudaMemcpy(x_scale.get(), &x, sizeof(x), cudaMemcpyHostToDevice));
      TBENCH_CUDA_CHECK(cudaMemcpy(w_scale.get(), &w, sizeof(w), cudaMemcpyHostToDevice));
      auto product = with_scales(48, 96, 64);
      product.problem.fast_accumulation = fast;
      product.run();
      product.expect_exact(x * w);
    }
  }
  const auto odd = with_scales(37, 53, 29);
  EXPECT_TRUE(Matmul(odd.library, odd.problem).algorithms(1, kWorkspaceBytes, PartialSums::kAnyType).empty());
}

/// Returns the sum of 64 products 1 * (1 + 2^-12): 64 + 2^-6 in float32, and 64 with TF32, which reads 11 bits.
float sum_of_long_ones(cublasComputeType_t compute) {
  Product<float, float> product{64, 64, 64, {CUDA_R_32F, CUDA_R_32F, compute}};
  product.x.fill_with(1.0F + 0x1p-12F);
  product.w.fill_with(1.0F);
  product.run();
  return product.y.at(5, 7);
}

TEST_F(CublasLtOnGpu, TheComputeTypeIsTheOneAskedFor) {
  EXPECT_EQ(sum_of_long_ones(CUBLAS_COMPUTE_32F), 64.015625F);
  EXPECT_EQ(sum_of_long_ones(CUBLAS_COMPUTE_32F_PEDANTIC), 64.015625F);
  int major{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(sum_of_long_ones(CUBLAS_COMPUTE_32F_FAST_TF32) == 64.015625F, major < 8);
}

TEST_F(CublasLtOnGpu, SumsOfTheComputeTypeAreNeverReducedInTheOutputs) {
  // With few tiles and a long k, the heuristic returns split-K algorithms.
  const Product<__half, __half> product{64, 64, 65536, {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F}};
  const Matmul matmul{product.library, product.problem};
  const auto algorithms = matmul.algorithms(16, kWorkspaceBytes, PartialSums::kComputeType);
  ASSERT_FALSE(algorithms.empty());
  for (const MatmulAlgorithm& algorithm : algorithms) {
    EXPECT_THAT(describe(algorithm), AnyOf(HasSubstr("reduction 0,"), HasSubstr("reduction 2,")));
    EXPECT_LE(algorithm.workspace_bytes, kWorkspaceBytes);
  }
}

TEST_F(CublasLtOnGpu, WhatMakesNoSenseIsRefusedWithTheProblem) {
  const Types types{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  const Product<float, float> product{16, 16, 16, types};
  MatmulProblem problem = product.problem;
  problem.n = 0;
  EXPECT_THROW(Matmul(product.library, problem), std::invalid_argument);
  problem = product.problem;
  problem.x_row_stride = 15;
  EXPECT_THROW(Matmul(product.library, problem), std::invalid_argument);
  problem = product.problem;
  problem.compute_type = CUBLAS_COMPUTE_64F;
  EXPECT_THROW(Matmul(product.library, problem), std::invalid_argument);
  problem = product.problem;
  problem.x_scale = static_cast<const float*>(product.x.device.get());
  EXPECT_THROW(Matmul(product.library, problem), std::invalid_argument);
  problem = product.problem;
  problem.multiprocessors = -1;
  EXPECT_THROW(Matmul(product.library, problem), std::invalid_argument);

  const Matmul matmul{product.library, product.problem};
  MatmulAlgorithm algorithm = matmul.algorithms(1, kWorkspaceBytes, PartialSums::kComputeType).at(0);
  MatmulOperands operands = product.operands();
  operands.w = nullptr;
  EXPECT_THROW(matmul.launch(algorithm, operands, nullptr), std::invalid_argument);
  algorithm.workspace_bytes = kWorkspaceBytes + 1;
  EXPECT_THROW(matmul.launch(algorithm, product.operands(), nullptr), std::invalid_argument);
}

TEST_F(CublasLtOnGpu, AnAlgorithmOfAnotherProblemIsAnErrorWithItsStatus) {
  if (!has_fp8()) GTEST_SKIP() << "the GPU has no fp8";
  const Product<__nv_fp8_e4m3, __nv_bfloat16> fp8{64, 96, 64, {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F}};
  const auto foreign = Matmul(fp8.library, fp8.problem).algorithms(1, kWorkspaceBytes, PartialSums::kComputeType).at(0);
  const Product<float, float> product{37, 53, 29, {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}};
  const Matmul matmul{product.library, product.problem};
  try {
    matmul.launch(foreign, product.operands(), nullptr);
    FAIL() << "an fp8 algorithm ran on float32";
  } catch (const CublasError& error) {
    EXPECT_THAT(error.what(), HasSubstr("CUBLAS_STATUS_"));
    EXPECT_THAT(error.what(), HasSubstr("y[37, 53] = x[37, 29]"));
  }
}

TEST_F(CublasLtOnGpu, ProductsForSomeMultiprocessorsComputeTheSame) {
  int all{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0));
  for (const int multiprocessors : {all / 3, all - all / 3, all}) {
    for (const Extents& extents : {Extents{512, 400, 64, 0}, Extents{2048, 1024, 64, 8}, Extents{37, 53, 29, 3}}) {
      Product<__nv_bfloat16, __nv_bfloat16> product{
          extents.m, extents.n, extents.k, {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F}, extents.padding};
      product.problem.multiprocessors = multiprocessors;
      const Matmul matmul{product.library, product.problem};
      const auto algorithms = matmul.algorithms(kAutotuneCandidates, kWorkspaceBytes, PartialSums::kAnyType);
      ASSERT_FALSE(algorithms.empty()) << describe(product.problem);
      for (const MatmulAlgorithm& algorithm : algorithms) {
        SCOPED_TRACE(describe(algorithm));
        product.y.fill_with(-1.0F);
        matmul.launch(algorithm, product.operands(), nullptr);
        TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
        product.y.download();
        product.expect_exact();
      }
    }
  }
}

TEST_F(CublasLtOnGpu, AutotuningChoosesOneThatComputesTheSame) {
  Product<__nv_bfloat16, __nv_bfloat16> product{512, 400, 64, {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F}};
  const Matmul matmul{product.library, product.problem};
  const auto algorithms = matmul.algorithms(16, kWorkspaceBytes, PartialSums::kAnyType);
  for (const ProductOperands met : {ProductOperands::kWarm, ProductOperands::kWeightCold}) {
    const auto result = fastest_algorithm(matmul, algorithms, product.operands(), nullptr, met);
    ASSERT_TRUE(result);
    EXPECT_GE(result->timed, 1U);
    EXPECT_LE(result->timed, algorithms.size());
    ASSERT_LT(result->fastest, algorithms.size());
    product.y.fill_with(-1.0F);
    matmul.launch(algorithms[result->fastest], product.operands(), nullptr);
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    product.y.download();
    product.expect_exact();
  }
}

}  // namespace
}  // namespace tbench::cuda

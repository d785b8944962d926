// The three matrix products of a linear layer, each by the algorithm of cuBLASLt that was the fastest when the step was
// built.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "tbench/core/enums.hpp"
#include "tbench/cuda/cublaslt.hpp"

namespace tbench::model {

/// The library and what its products work in, shared by those of one stream.
class ProductLibrary {
 public:
  explicit ProductLibrary(at::Device device);

  [[nodiscard]] const cuda::CublasLt& library() const { return library_; }
  [[nodiscard]] const at::Tensor& workspace() const { return workspace_; }

 private:
  cuda::CublasLt library_;
  at::Tensor workspace_;
};

/// One product with its algorithm, chosen at its first call: that one synchronises, and so cannot be captured.
class Product {
 public:
  Product(const ProductLibrary& library, const cuda::MatmulProblem& problem);
  /// On the current stream.
  /// @param x, w, y  as of cuda::MatmulOperands
  /// @throws  cuda::CublasError; std::runtime_error if the library has no algorithm
  void operator()(const void* x, const void* w, void* y);

 private:
  void choose(const cuda::MatmulOperands& operands);

  const ProductLibrary& library_;
  cuda::Matmul matmul_;
  std::optional<cuda::MatmulAlgorithm> algorithm_;
};

struct LinearShape {
  std::int64_t tokens{};
  std::int64_t in{}, out{};
  Precision precision{};  // 16-bit operands with float32 sums; float32 operands for kFp32 and kTf32
};

/// y = x w^T, x [tokens, in], w [out, in], y [tokens, out], with its gradients.
class Linear {
 public:
  Linear(const ProductLibrary& library, const LinearShape& shape);

  void forward(const void* x, const void* w, void* y) { forward_(x, w, y); }
  /// dx = dy w.
  void input_gradient(const void* dy, const void* w, void* dx) { input_gradient_(dy, w, dx); }
  /// dw = dy^T x, float32 whatever the operands are.
  void weight_gradient(const void* dy, const void* x, float* dw) { weight_gradient_(dy, x, dw); }

 private:
  Product forward_, input_gradient_, weight_gradient_;
};

}  // namespace tbench::model

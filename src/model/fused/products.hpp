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

/// The library and what its products work in: those that may run at the same time have workspaces of their own.
class ProductLibrary {
 public:
  /// @param has_side_stream  weights' gradients run beside other products
  ProductLibrary(at::Device device, bool has_side_stream);

  [[nodiscard]] const cuda::CublasLt& library() const { return library_; }
  [[nodiscard]] const at::Tensor& workspace() const { return workspace_; }
  /// The same where nothing runs beside.
  [[nodiscard]] const at::Tensor& side_workspace() const { return side_workspace_; }
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  cuda::CublasLt library_;
  at::Tensor workspace_, side_workspace_;
};

/// One product with its algorithm, chosen at its first call: that one synchronises, and so cannot be captured.
class Product {
 public:
  /// @param workspace  of kMatmulWorkspaceBytes; outlives this
  Product(const ProductLibrary& library, const at::Tensor& workspace, const cuda::MatmulProblem& problem);
  /// Enqueues the product on the current stream.
  /// @param x, w, y  as of cuda::MatmulOperands
  /// @throws  cuda::CublasError; std::runtime_error if the library has no algorithm
  void operator()(const void* x, const void* w, void* y);

 private:
  void choose(const cuda::MatmulOperands& operands);

  const at::Tensor& workspace_;
  cuda::Matmul matmul_;
  std::optional<cuda::MatmulAlgorithm> algorithm_;
};

struct LinearShape {
  std::int64_t tokens{};
  std::int64_t in{}, out{};
  Precision precision{};  // 16-bit operands with float32 sums; float32 operands for kFp32 and kTf32
};

/// bfloat16 for kBf16: autocast's product has no more bits, whatever they are cast to behind it. Else float32: fp16's
/// would be lost where the loss's scale is divided out.
[[nodiscard]] at::ScalarType weight_gradient_type(Precision precision);

/// y = x w^T, x [tokens, in], w [out, in], y [tokens, out], with its gradients: for all multiprocessors, or for those
/// that updates of weights leave.
class Linear {
 public:
  /// @param beside_updates  multiprocessors that updates leave
  Linear(const ProductLibrary& library, const LinearShape& shape, int beside_updates);

  void forward(const void* x, const void* w, void* y) { forward_(x, w, y); }
  /// dx = dy w.
  void input_gradient(const void* dy, const void* w, void* dx, bool beside_updates) {
    gradients(beside_updates).of_input(dy, w, dx);
  }
  /// dw = dy^T x, of weight_gradient_type(). In the side stream's workspace.
  void weight_gradient(const void* dy, const void* x, void* dw, bool beside_updates) {
    gradients(beside_updates).of_weight(dy, x, dw);
  }

 private:
  struct Gradients {
    /// @param multiprocessors  as of cuda::MatmulProblem
    Gradients(const ProductLibrary& library, const LinearShape& shape, int multiprocessors);

    Product of_input, of_weight;
  };
  [[nodiscard]] Gradients& gradients(bool beside_updates) { return beside_updates ? beside_updates_ : alone_; }

  Product forward_;
  Gradients alone_, beside_updates_;
};

}  // namespace tbench::model

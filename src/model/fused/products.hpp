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

/// The library and the workspaces of its products. Products that may run at the same time have separate workspaces.
class ProductLibrary {
 public:
  /// Allocates the workspaces.
  /// @param has_side_stream  whether the weights' gradients run at the same time as other products
  ProductLibrary(at::Device device, bool has_side_stream);

  [[nodiscard]] const cuda::CublasLt& library() const { return library_; }
  [[nodiscard]] const at::Tensor& workspace() const { return workspace_; }
  /// Workspace of the side stream; workspace() itself if there is no side stream.
  [[nodiscard]] const at::Tensor& side_workspace() const { return side_workspace_; }
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  cuda::CublasLt library_;
  at::Tensor workspace_, side_workspace_;
};

/// One product with its algorithm, which the first call selects. The first call therefore synchronises and cannot be
/// captured.
class Product {
 public:
  /// Plans the product without selecting an algorithm.
  /// @param workspace  kMatmulWorkspaceBytes bytes; must outlive this object
  Product(const ProductLibrary& library, const at::Tensor& workspace, const cuda::MatmulProblem& problem);
  /// Enqueues the product on the current stream.
  /// @param x, w, y  pointers as in cuda::MatmulOperands
  /// @throws  cuda::CublasError; std::runtime_error if the library has no algorithm
  void operator()(const void* x, const void* w, void* y);
  /// Selects the algorithm now, if no call has done so. Synchronises, and leaves y without meaning; an accumulating
  /// product therefore needs it before y has values to add to.
  void select(const void* x, const void* w, void* y);

 private:
  [[nodiscard]] cuda::MatmulOperands operands_of(const void* x, const void* w, void* y) const;
  void choose(const cuda::MatmulOperands& operands);

  const at::Tensor& workspace_;
  cuda::Matmul matmul_;
  std::optional<cuda::MatmulAlgorithm> algorithm_;
};

struct LinearShape {
  std::int64_t tokens{};
  std::int64_t in{}, out{};
  Precision precision{};    // 16-bit operands with float32 sums; float32 operands for kFp32 and kTf32
  bool adds_to_gradient{};  // whether another operation adds to the weight's gradient, which is therefore float32
};

/// Returns bfloat16 for kBf16, since autocast's product has no more bits, whatever type it is cast to afterwards.
/// Returns float32 otherwise: fp16 gradients would underflow when the loss scale is divided out.
[[nodiscard]] at::ScalarType weight_gradient_type(Precision precision);

/// Return the three products of a linear layer: y = x w^T, dx = dy w, and dw = dy^T x in weight_gradient_type().
/// @param multiprocessors  SMs to plan for, as in cuda::MatmulProblem
[[nodiscard]] cuda::MatmulProblem forward_problem(const LinearShape& shape);
[[nodiscard]] cuda::MatmulProblem input_gradient_problem(const LinearShape& shape, int multiprocessors);
[[nodiscard]] cuda::MatmulProblem weight_gradient_problem(const LinearShape& shape, int multiprocessors);

/// y = x w^T with its gradients; x is [tokens, in], w [out, in], y [tokens, out]. The gradients are planned twice: for
/// all SMs, and for the SMs that concurrent updates of weights leave.
class Linear {
 public:
  /// Plans the products.
  /// @param beside_updates  SMs that concurrent updates leave free
  Linear(const ProductLibrary& library, const LinearShape& shape, int beside_updates);

  void forward(const void* x, const void* w, void* y) { forward_(x, w, y); }
  /// Computes dx = dy w.
  void input_gradient(const void* dy, const void* w, void* dx, bool beside_updates) {
    gradients(beside_updates).of_input(dy, w, dx);
  }
  /// Computes dw = dy^T x in weight_gradient_type(), or in float32 if the shape says so, in the side stream's
  /// workspace.
  void weight_gradient(const void* dy, const void* x, void* dw, bool beside_updates) {
    gradients(beside_updates).of_weight(dy, x, dw);
  }

 private:
  struct Gradients {
    /// Plans both products.
    /// @param multiprocessors  SMs, as in cuda::MatmulProblem
    Gradients(const ProductLibrary& library, const LinearShape& shape, int multiprocessors);

    Product of_input, of_weight;
  };
  [[nodiscard]] Gradients& gradients(bool beside_updates) { return beside_updates ? beside_updates_ : alone_; }

  Product forward_;
  Gradients alone_, beside_updates_;
};

}  // namespace tbench::model

// Matrix products by cuBLASLt, with types, compute type and algorithm in the caller's hand. What LibTorch's own
// products use is LibTorch's choice; here the choice is what is measured.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/cuda/handle.hpp"

namespace tbench::cuda {

/// A call of cuBLASLt failed. The message holds the call, its place, the status's name and text, and what it was for.
class CublasError : public std::runtime_error {
 public:
  CublasError(std::string_view call, std::string_view place, cublasStatus_t status, std::string_view subject);

  [[nodiscard]] cublasStatus_t status() const noexcept { return status_; }

 private:
  cublasStatus_t status_;
};

/// Does nothing for CUBLAS_STATUS_SUCCESS.
/// @param subject  what the call was for, for the message; may be empty
/// @throws  OutOfMemory  for CUBLAS_STATUS_ALLOC_FAILED; CublasError for every other status
void check(cublasStatus_t status, std::string_view call, std::string_view place, std::string_view subject = {});

/// y = x w^T, as a linear layer has it: x [m, k], w [n, k], y [m, n], rows contiguous. cuBLASLt, to which matrices are
/// columns, sees y^T = w x^T with the first operand transposed ("TN"). The gradients of such a layer read what is
/// stored the other way round.
struct MatmulProblem {
  std::int64_t m{};
  std::int64_t n{};
  std::int64_t k{};
  cudaDataType_t input_type{};         // of x and w
  cudaDataType_t output_type{};        // of y
  cublasComputeType_t compute_type{};  // CUBLAS_COMPUTE_16F, _32F, _32F_FAST_TF32, ... and _PEDANTIC forms of these
  bool x_transposed{};                 // x is stored as [k, m]
  bool w_transposed{};                 // w is stored as [k, n]
  std::int64_t x_row_stride{};         // elements from one stored row to the next; 0: rows follow each other (k or m)
  std::int64_t w_row_stride{};         // the same (k or n)
  std::int64_t y_row_stride{};         // the same (n)
  const float* x_scale{};  // on the device: x stands for *x_scale * x. Both or neither; a launch of fp8 needs both
  const float* w_scale{};  // the same of w
  /// fp8 on Hopper: tensor cores add in their own registers all along k, instead of handing over to float32 sums at
  /// short intervals. Quicker, and about 14 bits.
  bool fast_accumulation{};
  int multiprocessors{};  // that the library plans for, where others are kept busy by kernels beside it; 0: all
};

/// "y[m, n] = x[m, k] w[n, k]^T" with numbers, types and compute type; "x[k, m]^T" and "w[k, n]" where they are stored
/// so; "for 88 multiprocessors" where it is not for all.
[[nodiscard]] std::string describe(const MatmulProblem& problem);

/// The precision in which algorithms that split k may keep and add their partial sums.
enum class PartialSums {
  kComputeType,  // that of the sums, so that splitting loses nothing
  kAnyType,      // also the output's: what LibTorch allows by default
};

/// The workspace that NVIDIA recommends for a product on Hopper (cuBLAS documentation, cublasSetWorkspace), and that
/// LibTorch gives.
inline constexpr std::size_t kMatmulWorkspaceBytes = std::size_t{32} << 20U;

struct MatmulAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes{};
};

/// Its configuration as text: "algorithm 66, tile 20, stages 36, split_k 1, reduction 0, swizzle 0, custom 0, inner 0,
/// cluster 2", numbers as in cublasLt.h (cublasLtMatmulTile_t, ...). The same library and GPU give the same text.
/// @throws  CublasError
[[nodiscard]] std::string describe(const MatmulAlgorithm& algorithm);

/// A result of cuBLASLt to UniqueHandle: see there.
struct CublasStatus {
  cublasStatus_t code{};
  bool operator==(const CublasStatus&) const = default;
};
void log_failure(CublasStatus status) noexcept;

template <auto Function, class Handle>
[[nodiscard]] CublasStatus destroy_cublas(Handle handle) {
  return {Function(handle)};
}

template <class Handle, auto Destroy>
using UniqueCublas = UniqueHandle<Handle, &destroy_cublas<Destroy, Handle>>;

/// The library's handle, of the current device.
class CublasLt {
 public:
  /// @throws  CublasError, OutOfMemory
  CublasLt();
  [[nodiscard]] cublasLtHandle_t get() const noexcept { return handle_.get(); }

 private:
  UniqueCublas<cublasLtHandle_t, &cublasLtDestroy> handle_;
};

struct MatmulOperands {
  const void* x{};    // device, [m, k] of input_type; 256-byte aligned, as all these
  const void* w{};    // device, [n, k] of input_type
  void* y{};          // device, [m, n] of output_type; overwritten
  void* workspace{};  // device; may be null for an algorithm that needs none
  std::size_t workspace_bytes{};
};

/// One problem, described to the library once. `library` has to live longer.
class Matmul {
 public:
  /// @throws  std::invalid_argument  for an extent that is not positive, a row stride shorter than a row, a compute
  ///                                 type other than of 16 or 32 bit floating point, or a negative number of
  ///                                 multiprocessors; CublasError
  Matmul(const CublasLt& library, const MatmulProblem& problem);

  /// Returns the algorithms that the library's heuristic recommends, the best first by its estimate. Empty where it has
  /// no algorithm at all, which is so for odd extents in fp8. Nothing runs on the device.
  /// @param max_count        at most so many, > 0
  /// @param workspace_limit  none that needs more bytes
  /// @throws  CublasError
  [[nodiscard]] std::vector<MatmulAlgorithm> algorithms(int max_count, std::size_t workspace_limit,
                                                        PartialSums partial_sums) const;

  /// Enqueues the product. Never synchronises; the first launch of an algorithm may load its kernel.
  /// @throws  std::invalid_argument  for a null operand or a workspace that is too small; CublasError
  void launch(const MatmulAlgorithm& algorithm, const MatmulOperands& operands, cudaStream_t stream) const;

  [[nodiscard]] const MatmulProblem& problem() const noexcept { return problem_; }

 private:
  using Layout = UniqueCublas<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;

  cublasLtHandle_t library_;
  MatmulProblem problem_;
  UniqueCublas<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy> description_;
  Layout x_, w_, y_;
};

}  // namespace tbench::cuda

// Matrix products by cuBLASLt, where the caller chooses types, compute type and algorithm. LibTorch makes that choice
// itself for its own products; here the choice is the subject of the measurement.
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

/// Thrown if a call of cuBLASLt failed. The message holds the call, its file and line, the status's name and text, and
/// the subject.
class CublasError : public std::runtime_error {
 public:
  CublasError(std::string_view call, std::string_view place, cublasStatus_t status, std::string_view subject);

  [[nodiscard]] cublasStatus_t status() const noexcept { return status_; }

 private:
  cublasStatus_t status_;
};

/// Throws for every status but CUBLAS_STATUS_SUCCESS.
/// @param subject  purpose of the call, for the message; may be empty
/// @throws  OutOfMemory  for CUBLAS_STATUS_ALLOC_FAILED; CublasError for every other status
void check(cublasStatus_t status, std::string_view call, std::string_view place, std::string_view subject = {});

/// y = x w^T, as in a linear layer: x [m, k], w [n, k], y [m, n], with contiguous rows. cuBLASLt stores matrices by
/// columns and therefore sees y^T = w x^T with the first operand transposed ("TN"). The gradients of such a layer read
/// operands that are stored transposed.
struct MatmulProblem {
  std::int64_t m{};
  std::int64_t n{};
  std::int64_t k{};
  cudaDataType_t input_type{};         // type of x and w
  cudaDataType_t output_type{};        // type of y
  cublasComputeType_t compute_type{};  // CUBLAS_COMPUTE_16F, _32F, _32F_FAST_TF32, ... and _PEDANTIC forms of these
  bool x_transposed{};                 // x is stored as [k, m]
  bool w_transposed{};                 // w is stored as [k, n]
  std::int64_t x_row_stride{};         // elements from one stored row to the next; 0: contiguous (k or m)
  std::int64_t w_row_stride{};         // likewise (k or n)
  std::int64_t y_row_stride{};         // likewise (n)
  const float* x_scale{};  // device pointer: x stands for *x_scale * x. Set both scales or neither; fp8 needs both
  const float* w_scale{};  // likewise for w
  /// For fp8 on Hopper: tensor cores accumulate in their own registers along all of k, instead of adding to float32
  /// sums at short intervals. Faster, with a precision of about 14 bits.
  bool fast_accumulation{};
  int multiprocessors{};  // number to plan for, if other kernels occupy the rest; 0 for all
  bool accumulate{};      // y += x w^T: the product is added to the present values of y
};

/// Returns "y[m, n] = x[m, k] w[n, k]^T" with numbers, types and compute type. Transposed operands appear as
/// "x[k, m]^T" and "w[k, n]", an accumulating product as "y[m, n] += ...". Adds "for 88 multiprocessors" if the product
/// is not planned for all of them.
[[nodiscard]] std::string describe(const MatmulProblem& problem);

/// The precision in which split-K algorithms may store and add their partial sums.
enum class PartialSums {
  kComputeType,  // the precision of the sums, so that splitting loses nothing
  kAnyType,      // also the output's type, which LibTorch allows by default
};

/// The workspace that NVIDIA recommends for a product on Hopper (cuBLAS documentation, cublasSetWorkspace) and that
/// LibTorch uses, in bytes.
inline constexpr std::size_t kMatmulWorkspaceBytes = std::size_t{32} << 20U;

struct MatmulAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes{};
};

/// Returns the algorithm's configuration as text: "algorithm 66, tile 20, stages 36, split_k 1, reduction 0, swizzle 0,
/// custom 0, inner 0, cluster 2", with the numbers of cublasLt.h (cublasLtMatmulTile_t, ...). The text is stable for
/// one version of the library and one GPU.
/// @throws  CublasError
[[nodiscard]] std::string describe(const MatmulAlgorithm& algorithm);

/// A cuBLASLt status as UniqueHandle needs it: its log_failure() is found by argument-dependent look-up.
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

/// The library's handle for the current device.
class CublasLt {
 public:
  /// Makes a handle for the current device.
  /// @throws  CublasError, OutOfMemory
  CublasLt();
  [[nodiscard]] cublasLtHandle_t get() const noexcept { return handle_.get(); }

 private:
  UniqueCublas<cublasLtHandle_t, &cublasLtDestroy> handle_;
};

struct MatmulOperands {
  const void* x{};    // device, [m, k] of input_type; all operands are 256-byte aligned
  const void* w{};    // device, [n, k] of input_type
  void* y{};          // device, [m, n] of output_type; overwritten, or added to if the problem accumulates
  void* workspace{};  // device; may be null if the algorithm needs none
  std::size_t workspace_bytes{};
};

/// One matrix product, described to the library once. `library` must outlive it.
class Matmul {
 public:
  /// Checks the problem and describes it to the library.
  /// @throws  std::invalid_argument  for an extent that is not positive, a row stride shorter than a row, a compute
  ///                                 type other than 16- or 32-bit floating point, a scale for only one of x and w, or
  ///                                 a negative number of multiprocessors; CublasError
  Matmul(const CublasLt& library, const MatmulProblem& problem);

  /// Returns the algorithms that the library's heuristic recommends, best estimate first. Empty if the library has no
  /// algorithm, as for odd extents in fp8. Runs nothing on the device.
  /// @param max_count        largest number of algorithms to return, > 0
  /// @param workspace_limit  largest workspace that an algorithm may need, in bytes
  /// @throws  CublasError
  [[nodiscard]] std::vector<MatmulAlgorithm> algorithms(int max_count, std::size_t workspace_limit,
                                                        PartialSums partial_sums) const;

  /// Enqueues the product. Never synchronises; the first launch of an algorithm may load its kernel.
  /// @throws  std::invalid_argument  for a null operand, fp8 inputs without scales, or a workspace that is too small;
  ///                                 OutOfMemory, CublasError
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

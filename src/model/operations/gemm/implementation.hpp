// The registry of the Gemm family's implementations, and the tensors they compute with. A new implementation is a file
// in src/model/operations/gemm/ and a line in gemm_case.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "model/operations/operation_case.hpp"
#include "model/torch/registry.hpp"
#include "tbench/model/gemm_case.hpp"

namespace tbench::model {

/// The tensors of a product, contiguous on the case's device.
struct GemmOperands {
  GemmConfig config;
  at::Tensor x;                 // [m, k]
  at::Tensor w;                 // [n, k]
  at::Tensor y;                 // [m, n], not initialised; undefined while a product makes its own y
  at::Tensor x_scale, w_scale;  // fp8: float32 scalars, x means x_scale * x; undefined for other precisions
};

/// Makes the operands and fills them with the values that make_gemm() documents.
[[nodiscard]] GemmOperands make_gemm_operands(const GemmConfig& config);
/// Overwrites the operands in place with the values of another seed, so that a product reads them at the same
/// addresses.
void fill_gemm_operands(GemmOperands& operands, std::uint64_t seed);
/// Returns the name of an operand that has changed since it was filled, or nullopt. Needs memory for one more operand.
/// Synchronises.
[[nodiscard]] std::optional<std::string> changed_gemm_operand(const GemmOperands& operands);

/// An implementation that is ready to run on the operands it was made for.
class GemmProduct {
 public:
  virtual ~GemmProduct() = default;
  GemmProduct() = default;
  GemmProduct(const GemmProduct&) = delete;
  GemmProduct& operator=(const GemmProduct&) = delete;

  /// Overwrites the operands' y, or makes a new y. Never synchronises.
  virtual void launch() = 0;
  /// Returns whether launch() makes its own y and leaves the operands' y alone.
  [[nodiscard]] virtual bool makes_y() const { return false; }
  /// Hands over the y that the last launch made.
  [[nodiscard]] virtual at::Tensor take_y() { return {}; }
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
  [[nodiscard]] virtual std::map<std::string, std::string> labels() const { return {}; }
};

struct GemmImpl {
  std::string name;
  /// Returns why the implementation does not support the product, on a device that exists and supports the precision.
  /// May be null.
  std::optional<std::string> (*unsupported_reason)(const GemmConfig& config);
  /// Makes the product. May launch kernels and synchronise.
  std::unique_ptr<GemmProduct> (*make)(const GemmOperands& operands);
  bool is_watched{};  // an OutputChecker checks timed launches: true for plug-ins
};

/// Returns all implementations, in the order of gemm_impl_names().
[[nodiscard]] Registry<GemmImpl>& gemm_impls();

/// Makes the operation of make_gemm_case().
[[nodiscard]] std::unique_ptr<OperationCase> make_gemm_operation(const GemmConfig& config);

/// LibTorch's own product (`mm`; `_scaled_mm` for fp8) with its default settings and TF32 as the precision says.
[[nodiscard]] GemmImpl aten_gemm_impl();
/// cuBLASLt with the first algorithm that its heuristic returns.
[[nodiscard]] GemmImpl cublaslt_heuristic_gemm_impl();
/// cuBLASLt with the fastest of the algorithms that its heuristic returns, autotuned on the case's own operands.
[[nodiscard]] GemmImpl cublaslt_best_gemm_impl();

}  // namespace tbench::model

// The registry of the Gemm family's implementations, and the tensors they compute with. A new one is a file in
// src/model/operations/gemm/ and a line in gemm_case.cpp.
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

/// Contiguous, on the case's device.
struct GemmOperands {
  GemmConfig config;
  at::Tensor x;                 // [m, k]
  at::Tensor w;                 // [n, k]
  at::Tensor y;                 // [m, n]; not initialised, and undefined once a product that makes its own is there
  at::Tensor x_scale, w_scale;  // fp8: [] float32, x stands for x_scale * x; undefined for the other precisions
};

/// Makes and fills them, as make_gemm says.
[[nodiscard]] GemmOperands make_gemm_operands(const GemmConfig& config);
/// Gives them the values of another seed in place: a product reads them where it did before.
void fill_gemm_operands(GemmOperands& operands, std::uint64_t seed);
/// The name of an operand that is not what it was filled with, or nothing. Needs memory for one more. Synchronises.
[[nodiscard]] std::optional<std::string> changed_gemm_operand(const GemmOperands& operands);

/// An implementation ready to run on the operands it was made for.
class GemmProduct {
 public:
  virtual ~GemmProduct() = default;
  GemmProduct() = default;
  GemmProduct(const GemmProduct&) = delete;
  GemmProduct& operator=(const GemmProduct&) = delete;

  /// Overwrites y, or makes its own. Never synchronises.
  virtual void launch() = 0;
  /// Whether launch() makes its own y, and leaves the operands' y alone.
  [[nodiscard]] virtual bool makes_y() const { return false; }
  /// Hands over the y that the last launch has made.
  [[nodiscard]] virtual at::Tensor take_y() { return {}; }
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
  [[nodiscard]] virtual std::map<std::string, std::string> labels() const { return {}; }
};

struct GemmImpl {
  std::string name;
  /// Returns why it does not support the product on a device that exists and knows the precision. May be null.
  std::optional<std::string> (*unsupported_reason)(const GemmConfig& config);
  /// May launch and synchronise.
  std::unique_ptr<GemmProduct> (*make)(const GemmOperands& operands);
  bool is_watched{};  // by an OutputChecker, while it is timed: an implementation from a plug-in
};

/// All of them, in the order of gemm_impl_names().
[[nodiscard]] Registry<GemmImpl>& gemm_impls();

/// Makes the operation of make_gemm_case().
[[nodiscard]] std::unique_ptr<OperationCase> make_gemm_operation(const GemmConfig& config);

/// LibTorch's own product (`mm`, of fp8 `_scaled_mm`) with its default settings, TF32 as the precision says.
[[nodiscard]] GemmImpl aten_gemm_impl();
/// cuBLASLt with the first algorithm that its heuristic names.
[[nodiscard]] GemmImpl cublaslt_heuristic_gemm_impl();
/// cuBLASLt with the fastest of those that its heuristic names, autotuned on the case's own operands.
[[nodiscard]] GemmImpl cublaslt_best_gemm_impl();

}  // namespace tbench::model

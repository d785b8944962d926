// Cases of the Gemm family: one matrix product, y = x w^T. The interface is free of LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// The types of a matrix product's inputs: the values of Precision, and fp8 (e4m3: 4 bits of exponent, 3 of
/// significand), in which no model or attention here computes. Products are always summed in float32.
enum class GemmPrecision { kFp32, kTf32, kBf16, kFp16, kFp8E4m3 };

inline constexpr std::array kAllGemmPrecisions{GemmPrecision::kFp32, GemmPrecision::kTf32, GemmPrecision::kBf16,
                                               GemmPrecision::kFp16, GemmPrecision::kFp8E4m3};

[[nodiscard]] std::string_view to_string(GemmPrecision precision);
/// Returns the precision that `text` names, or nullopt if there is none.
[[nodiscard]] std::optional<GemmPrecision> parse_gemm_precision(std::string_view text);
/// Returns the value of Precision that corresponds to `precision`, or nullopt for fp8.
[[nodiscard]] std::optional<Precision> common_precision(GemmPrecision precision);

/// y [m, n] = x [m, k] w [n, k]^T, all rows contiguous: a linear layer's forward pass, with w in the layout of the
/// layer's weights.
struct GemmConfig {
  std::int64_t m{}, n{}, k{};
  GemmPrecision precision{};
  std::string impl;  // "aten", "cublaslt_heuristic", ...: see src/model/operations/gemm/implementation.hpp
  DeviceKind device{};
  std::uint64_t seed{};
};

/// Returns all valid values of GemmConfig::impl, in order.
[[nodiscard]] std::vector<std::string> gemm_impl_names();

/// Makes a Gemm case. Inputs are seeded and normal. fp32 and tf32 store inputs and output in float32, bf16 and fp16 in
/// their own format. fp8 has a bf16 output and one float32 scale per input tensor, so that the tensor's largest value
/// is the largest of e4m3 (448). There is no bias; y is allocated before the timing, and every launch overwrites it.
/// Sums are float32: CUBLAS_COMPUTE_32F, or CUBLAS_COMPUTE_32F_FAST_TF32 for tf32; fp8 runs without FAST_ACCUM. With a
/// split-K algorithm, partial sums may have the type of y; this is LibTorch's default and holds for every
/// implementation. Results are verified against float64 of the same rounded inputs (verify_gemm_product);
/// verify_again() refills the inputs in place. Counters: `relative_error`, and `candidates` if the implementation
/// chooses among algorithms.
/// @throws  UsageError  for an unknown impl or an extent that is not positive
[[nodiscard]] std::unique_ptr<Case> make_gemm_case(const GemmConfig& config);

}  // namespace tbench::model

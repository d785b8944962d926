// One matrix product, y = x w^T, as an operation: what a case of the Gemm family builds, checks and launches. Free of
// LibTorch in its interface.
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

/// The types of a matrix product's inputs: the ones of Precision, and fp8 (e4m3: 4 bits of exponent, 3 of significand),
/// which no model or attention here computes in. All are summed in float32.
enum class GemmPrecision { kFp32, kTf32, kBf16, kFp16, kFp8E4m3 };

inline constexpr std::array kAllGemmPrecisions{GemmPrecision::kFp32, GemmPrecision::kTf32, GemmPrecision::kBf16,
                                               GemmPrecision::kFp16, GemmPrecision::kFp8E4m3};

[[nodiscard]] std::string_view to_string(GemmPrecision precision);
/// @return  the precision that `text` names, or nothing
[[nodiscard]] std::optional<GemmPrecision> parse_gemm_precision(std::string_view text);
/// The same among those that everything knows; nothing for fp8.
[[nodiscard]] std::optional<Precision> common_precision(GemmPrecision precision);

/// y [m, n] = x [m, k] w [n, k]^T, all rows contiguous: a linear layer's forward pass, w as it keeps its weights.
struct GemmConfig {
  std::int64_t m{}, n{}, k{};
  GemmPrecision precision{};
  std::string impl;  // "aten", "cublaslt_heuristic", ...: see src/model/operations/gemm/implementation.hpp
  DeviceKind device{};
  std::uint64_t seed{};
};

/// The names `impl` takes, in order.
[[nodiscard]] std::vector<std::string> gemm_impl_names();

/// Inputs are seeded and normal. fp32 and tf32 store float32, bf16 and fp16 inputs and output so; fp8 has inputs scaled
/// so that the largest of each tensor is the largest that e4m3 has (448), one float32 scale a tensor, and a bf16
/// output. No bias; y is allocated before the timing, and every launch overwrites it.
/// Sums are float32 (CUBLAS_COMPUTE_32F, of tf32 CUBLAS_COMPUTE_32F_FAST_TF32), of fp8 without FAST_ACCUM. Where an
/// algorithm splits k, partial sums may have the type of y: LibTorch's default, and the same for every implementation.
/// Verified against float64 of the same rounded inputs (verify_gemm_product); verify_again() refills these in place.
/// Counters: `relative_error`; of an implementation that chooses among algorithms `candidates`.
/// @throws  UsageError  for an unknown impl or an extent that is not positive
[[nodiscard]] std::unique_ptr<Case> make_gemm_case(const GemmConfig& config);

}  // namespace tbench::model

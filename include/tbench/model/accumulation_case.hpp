// Long sums in a chosen number format and order, each with its error against float64: what an accumulator does to a
// result. Free of LibTorch in its interface.
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

enum class AccumulationOp {
  kSum,     // n eager additions of 0.01 to a scalar, as the course does them
  kReduce,  // the sum of a tensor [n]
  kDot,     // the product of two tensors [n]
  kMatmul   // [1024, n] x [n, 1024]: sums of n products
};

enum class AccumulationMethod {
  kSequential,  // one addition after the other
  kCastUp,      // the same, the addend cast to the accumulator's format first
  kPairwise,    // kernels::SumOrder
  kKahan,
  kAten,      // LibTorch's own operation
  kCublasLt,  // cuBLASLt's first algorithm that does not split the sums
};

[[nodiscard]] std::string_view to_string(AccumulationOp op);
[[nodiscard]] std::string_view to_string(AccumulationMethod method);
[[nodiscard]] std::optional<AccumulationOp> parse_accumulation_op(std::string_view text);
[[nodiscard]] std::optional<AccumulationMethod> parse_accumulation_method(std::string_view text);
/// All names, in order.
[[nodiscard]] std::vector<std::string> accumulation_op_names();
[[nodiscard]] std::vector<std::string> accumulation_method_names();

struct AccumulationConfig {
  AccumulationOp op{};
  std::int64_t n{};         // terms of a sum
  Precision input{};        // of the terms or factors: kFp32, kFp16, kBf16
  Precision accumulator{};  // of the running sum: kFp32, or the input's
  AccumulationMethod method{};
  DeviceKind device{};
  std::uint64_t seed{};
};

/// The addend of kSum.
inline constexpr double kRepeatedAddend = 0.01;
/// Rows and columns of kMatmul's result.
inline constexpr std::int64_t kMatmulExtent = 1024;

/// Why no device can compute such a sum, or nothing.
[[nodiscard]] std::optional<std::string> accumulation_invalid_reason(const AccumulationConfig& config);

/// Counters, after verify(): `result`, the sum itself (not of kMatmul), and `relative_error` against float64 of the
/// same terms as stored: |result - reference| / |reference|, Frobenius norms for kMatmul. Sums of a known order are
/// verified bit by bit against a sum on the host, others within a bound (src/model/operations/accumulation/ states it).
/// FLOP: n for kSum and kReduce, 2 n for kDot, 2 * 1024 * 1024 * n for kMatmul.
/// A CPU has none of our kernels and no cuBLASLt, and adds matrix products in float32: the rest runs there.
/// Labels of kCublasLt: its `algorithm`, and whether its `sums` are `whole` or `split`.
/// @throws  UsageError  for an invalid config, with the reason that accumulation_invalid_reason gives
[[nodiscard]] std::unique_ptr<Case> make_accumulation_case(const AccumulationConfig& config);

}  // namespace tbench::model

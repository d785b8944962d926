// Long sums in a number format and an order of one's choice, each with its error against float64: what an accumulator
// does to a result. Free of LibTorch in its interface.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/precision.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/operation.hpp"

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

/// Why there is no such sum whatever the device, or nothing.
[[nodiscard]] std::optional<std::string> accumulation_nonsense(const AccumulationConfig& config);

/// Counters, after verify(): `result`, the sum itself (not of kMatmul), and `relative_error` against float64 of the
/// same terms as stored: |result - reference| / |reference|, Frobenius norms for kMatmul. Sums of a known order are
/// verified bit by bit against a sum on the host, others within a bound (src/model/operation/accumulation/ states it).
/// Findings: the `algorithm` of kCublasLt.
/// @throws  UsageError  for a config that makes no sense, in the words of accumulation_nonsense
[[nodiscard]] std::unique_ptr<Operation> make_accumulation(const AccumulationConfig& config);

}  // namespace tbench::model

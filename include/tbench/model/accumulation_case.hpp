// Cases of long sums in a chosen number format and order, each with its error against float64: they show how an
// accumulator's format and method change a result. The interface is free of LibTorch.
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
  kSum,     // n eager additions of 0.01 to a scalar, as in the course
  kReduce,  // the sum of a tensor [n]
  kDot,     // the product of two tensors [n]
  kMatmul   // [1024, n] x [n, 1024]: sums of n products
};

enum class AccumulationMethod {
  kSequential,  // one addition after the other
  kCastUp,      // like kSequential, but casts each addend to the accumulator's format first
  kPairwise,    // kernels::SumOrder defines kPairwise and kKahan
  kKahan,
  kAten,      // LibTorch's own operation
  kCublasLt,  // cuBLASLt's first algorithm that does not split the sums
};

[[nodiscard]] std::string_view to_string(AccumulationOp op);
[[nodiscard]] std::string_view to_string(AccumulationMethod method);
[[nodiscard]] std::optional<AccumulationOp> parse_accumulation_op(std::string_view text);
[[nodiscard]] std::optional<AccumulationMethod> parse_accumulation_method(std::string_view text);
/// Return all names, in order.
[[nodiscard]] std::vector<std::string> accumulation_op_names();
[[nodiscard]] std::vector<std::string> accumulation_method_names();

struct AccumulationConfig {
  AccumulationOp op{};
  std::int64_t n{};         // number of terms of a sum
  Precision input{};        // format of the terms or factors: kFp32, kFp16 or kBf16
  Precision accumulator{};  // format of the running sum: kFp32, or `input`
  AccumulationMethod method{};
  DeviceKind device{};
  std::uint64_t seed{};
};

/// The number that kSum adds n times.
inline constexpr double kRepeatedAddend = 0.01;
/// Rows and columns of kMatmul's result.
inline constexpr std::int64_t kMatmulExtent = 1024;

/// Returns why no device can compute this sum, or nullopt if the config is valid.
[[nodiscard]] std::optional<std::string> accumulation_invalid_reason(const AccumulationConfig& config);

/// Makes a case of one sum.
///
/// Counters, after verify(): `result`, the sum itself (absent for kMatmul), and `relative_error` = |result - reference|
/// / |reference|, where the reference is the float64 sum of the terms as they are stored. kMatmul uses Frobenius norms.
/// Sums of a known order are verified bit by bit against a sum on the host, and other sums within a bound that
/// src/model/operations/accumulation/ states.
/// FLOP: n for kSum and kReduce, 2 n for kDot, 2 * 1024 * 1024 * n for kMatmul.
/// On a CPU, the methods of our kernels and of cuBLASLt are unsupported, and so are matrix products with a 16-bit
/// accumulator; all other configs run there.
/// Labels of kCublasLt: `algorithm`, and `sums`, which is `whole` or `split`.
/// @throws  UsageError  for an invalid config, with the reason that accumulation_invalid_reason gives
[[nodiscard]] std::unique_ptr<Case> make_accumulation_case(const AccumulationConfig& config);

}  // namespace tbench::model

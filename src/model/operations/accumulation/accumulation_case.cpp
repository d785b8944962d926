#include "tbench/model/accumulation_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/operations/accumulation/sums.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"
#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

constexpr std::array<std::string_view, 4> kAccumulationOps{"sum", "reduce", "dot", "matmul"};
constexpr std::array<std::string_view, 6> kAccumulationMethods{"sequential", "cast_up", "pairwise",
                                                               "kahan",      "aten",    "cublaslt"};

template <class Value, std::size_t Count>
std::optional<Value> value_named(const std::array<std::string_view, Count>& names, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

std::vector<AccumulationMethod> methods_of(AccumulationOp op) {
  using enum AccumulationMethod;
  switch (op) {
    case AccumulationOp::kSum:
      return {kSequential, kCastUp};
    case AccumulationOp::kReduce:
    case AccumulationOp::kDot:
      return {kSequential, kPairwise, kKahan, kAten};
    case AccumulationOp::kMatmul:
      return {kAten, kCublasLt};
  }
  return {};
}

}  // namespace

std::string_view to_string(AccumulationOp op) { return kAccumulationOps.at(static_cast<std::size_t>(op)); }
std::string_view to_string(AccumulationMethod method) {
  return kAccumulationMethods.at(static_cast<std::size_t>(method));
}
std::optional<AccumulationOp> parse_accumulation_op(std::string_view text) {
  return value_named<AccumulationOp>(kAccumulationOps, text);
}
std::optional<AccumulationMethod> parse_accumulation_method(std::string_view text) {
  return value_named<AccumulationMethod>(kAccumulationMethods, text);
}
std::vector<std::string> accumulation_op_names() { return {kAccumulationOps.begin(), kAccumulationOps.end()}; }
std::vector<std::string> accumulation_method_names() {
  return {kAccumulationMethods.begin(), kAccumulationMethods.end()};
}

std::optional<std::string> accumulation_invalid_reason(const AccumulationConfig& config) {
  using enum AccumulationMethod;
  const std::vector<AccumulationMethod> methods = methods_of(config.op);
  if (std::ranges::find(methods, config.method) == methods.end()) {
    std::vector<std::string_view> names;
    for (const AccumulationMethod method : methods) names.push_back(to_string(method));
    return fmt::format("op:{} has no method:{}; it has {}", to_string(config.op), to_string(config.method),
                       fmt::join(names, ", "));
  }
  if (config.n <= 0) return fmt::format("n:{} is not positive", config.n);
  const bool is_wide = config.accumulator == Precision::kFp32;
  if (config.input == Precision::kTf32 || (config.accumulator != config.input && !is_wide)) {
    return fmt::format("input:{} with accumulator:{}: an accumulator is fp32 or of the input's format",
                       to_string(config.input), to_string(config.accumulator));
  }
  if (config.method == kCastUp && config.input == config.accumulator) {
    return fmt::format("method:cast_up from {} to itself casts nothing", to_string(config.input));
  }
  if (config.op == AccumulationOp::kReduce && config.method == kAten && !is_wide) {
    return fmt::format("method:aten has no accumulator:{}: at::sum adds in fp32", to_string(config.accumulator));
  }
  if (config.op == AccumulationOp::kDot && config.method == kAten && config.input != Precision::kFp32) {
    return fmt::format(
        "method:aten with input:{}: at::dot rounds its result to the input's format, whatever it adds in",
        to_string(config.input));
  }
  if (config.op == AccumulationOp::kMatmul && config.accumulator == Precision::kBf16) {
    return "accumulator:bf16: no library adds a matrix product in bf16";
  }
  return std::nullopt;
}

std::unique_ptr<Case> make_accumulation_case(const AccumulationConfig& config) {
  if (const auto reason = accumulation_invalid_reason(config)) throw UsageError{"accumulation: " + *reason};
  if (config.op == AccumulationOp::kSum) return make_repeated_sum(config);
  return config.op == AccumulationOp::kMatmul ? make_long_matmul(config) : make_vector_sum(config);
}

std::optional<std::string> format_unsupported_reason(const AccumulationConfig& config) {
  if (config.device == DeviceKind::kCpu) return std::nullopt;
  return device_unsupported_reason(config.device, config.input);
}

at::ScalarType storage_dtype(Precision format) { return compute_dtype(format, at::kFloat); }

Verification exact_verdict(double actual, double expected, std::string reference) {
  const bool same = actual == expected;
  return {.passed = same,
          .reference = std::move(reference),
          .worst_error = same ? 0.0 : kWorstErrorCap,
          .worst_where = "result",
          .message = same ? "" : fmt::format("the result is {}, but must be {}", actual, expected)};
}

}  // namespace tbench::model

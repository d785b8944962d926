#include "model/operations/kernels/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

constexpr double kFloatRoundOff = unit_roundoff(Precision::kFp32);
constexpr double kHalfMinFp16 = 0x1p-25;  // largest error of rounding to a subnormal number

Verification compare_results(const std::vector<KernelResult>& expected, const std::vector<at::Tensor>& results) {
  Comparison comparison;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor actual = i < results.size() ? results[i] : at::Tensor{};
    comparison.add(expected[i].name, actual, expected[i].expected, expected[i].tolerance, expected[i].row_allowance);
  }
  return comparison.finish("float64 of the formulas, of the same inputs");
}

KernelOperands filled(const KernelConfig& config, const KernelOp& op) {
  KernelOperands operands{.config = config, .inputs = {}, .gradients = {}, .saved = {}};
  op.fill(operands);
  return operands;
}

/// Returns the name of a tensor that has changed since it was filled, except for the results; nullopt if there is none.
std::optional<std::string> changed_tensor(const KernelOperands& operands, const KernelOp& op,
                                          const std::vector<at::Tensor>& results) {
  const KernelOperands before = filled(operands.config, op);
  const auto first_changed = [&](const char* name, const std::vector<at::Tensor>& now,
                                 const std::vector<at::Tensor>& then) -> std::optional<std::string> {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool is_result = std::ranges::any_of(
          results, [&](const at::Tensor& result) { return result.const_data_ptr() == now[i].const_data_ptr(); });
      // Only the results of an operation in place may change; an output that overwrites its input is a fault of any
      // other operation.
      if (!(op.is_in_place && is_result) && !has_same_bytes(now[i], then[i])) return fmt::format("{} {}", name, i);
    }
    return std::nullopt;
  };
  auto changed = first_changed("input", operands.inputs, before.inputs);
  return changed ? changed : first_changed("gradient", operands.gradients, before.gradients);
}

}  // namespace

void fill_kernel_operands(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  operands.config.seed = seed;
  operands.saved.clear();
  const KernelOperands values = filled(operands.config, op);
  for (std::size_t i = 0; i < values.inputs.size(); ++i) operands.inputs[i].copy_(values.inputs[i]);
  for (std::size_t i = 0; i < values.gradients.size(); ++i) operands.gradients[i].copy_(values.gradients[i]);
  if (impl.prepare != nullptr) impl.prepare(operands);
}

std::vector<at::Tensor> run_kernel(const KernelOperands& operands, const KernelImpl& impl) {
  const at::NoGradGuard no_grad;
  return operands.config.pass == KernelPass::kForward ? impl.forward(operands) : impl.backward(operands);
}

Verification verify_kernel(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  const bool is_filled = operands.config.seed == seed;
  // The expected results come first: they must not be computed from inputs that the operation has changed.
  std::vector<KernelResult> expected;
  if (is_filled) expected = op.expect(operands);
  if (!op.is_in_place) {
    for (at::Tensor& result : run_kernel(operands, impl)) result.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  if (!is_filled) {
    fill_kernel_operands(operands, op, impl, seed);
    expected = op.expect(operands);
  }
  const std::vector<at::Tensor> results = run_kernel(operands, impl);
  Verification verdict = compare_results(expected, results);
  if (!verdict.passed) return verdict;
  if (const auto changed = changed_tensor(operands, op, results)) {
    verdict.passed = false;
    verdict.message = *changed + ": the operation changed it";
  }
  return verdict;
}

Verification compare_kernel(const KernelOperands& operands, const KernelOp& op,
                            const std::vector<at::Tensor>& results) {
  const at::NoGradGuard no_grad;
  return compare_results(op.expect(operands), results);
}

void add_kernel_rows(const KernelOperands& operands, const KernelOp& op, const HiddenRows& hidden,
                     Comparison& comparison) {
  const at::NoGradGuard no_grad;
  const std::vector<KernelResult> expected = op.expect(operands);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // All other rows hold the expected values, so that errors are measured on the scale of the whole tensor.
    const at::Tensor& whole = expected[i].expected;
    const at::Tensor actual = whole.contiguous().clone();
    actual.view({rows_of(whole), columns_of(whole)}).index_copy_(0, hidden.rows[i], hidden.values[i].to(at::kDouble));
    std::string name = fmt::format("{} of {}", expected[i].name, hidden.launch);
    const Tolerance tolerance = widened(expected[i].tolerance);
    if (expected[i].row_allowance.defined()) {
      comparison.add(std::move(name), actual, whole, tolerance, expected[i].row_allowance);
    } else {
      comparison.add_batched(std::move(name), actual, whole, tolerance);
    }
  }
}

void add_kernel_sums(const KernelOperands& operands, const KernelOp& op, const RowDigests& sums,
                     Comparison& comparison) {
  const at::NoGradGuard no_grad;
  const std::vector<KernelResult> expected = op.expect(operands);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor whole = expected[i].expected.reshape({rows_of(expected[i].expected), -1});
    comparison.add(fmt::format("{} of {}, by sums with random signs", expected[i].name, sums.launch),
                   sums.digests[i].unsqueeze(1), at::mv(whole, sums.signs[i]).unsqueeze(1), {},
                   signed_sum_bounds(whole, widened(expected[i].tolerance), expected[i].row_allowance, kKernelBudget));
  }
}

double largest_deviation(std::int64_t count) { return sum_bound(static_cast<double>(count), kKernelBudget); }

double largest_product(std::int64_t count) { return std::log(2.0 * static_cast<double>(count) / kKernelBudget); }

double positive_sum_roundoffs(std::int64_t terms, std::int64_t count) {
  return largest_deviation(count) * std::sqrt(static_cast<double>(terms)) / 3.0;
}

Tolerance kernel_tolerance(Precision precision, const KernelRoundings& roundings) {
  Tolerance tolerance{.relative = roundings.relative * kFloatRoundOff,
                      .of_rms = roundings.of_rms * kFloatRoundOff,
                      .absolute = precision == Precision::kFp16 ? roundings.min_subnormals * kHalfMinFp16 : 0.0};
  double norm = roundings.norm * kFloatRoundOff;
  if (precision != Precision::kFp32) {
    tolerance.relative += roundings.stored * unit_roundoff(precision);
    tolerance.of_rms += roundings.stored_of_rms * unit_roundoff(precision);
    norm += roundings.stored_norm * unit_roundoff(precision);
  }
  if (roundings.degrees > 0.0) tolerance.of_norm = norm * norm_fluctuation(roundings.degrees, kKernelBudget);
  return tolerance;
}

}  // namespace tbench::model

#include "model/torch/compare.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tbench::model {
namespace {

/// What is reduced from a pair of tensors, in this order. "Ratio" is error over tolerance.
enum Statistic : std::int64_t {
  kWorstRatio,
  kWorstIndex,
  kBadCount,
  kFirstBadIndex,
  kFirstBadActual,
  kFirstBadReference,
  kFirstBadRatio,
  kNormRatio,
  kWorstRowRatio,
  kWorstRow,
  kStatisticCount
};

at::Tensor element(const at::Tensor& values, const at::Tensor& index) { return values.index_select(0, index); }

/// Root mean square of the elements that are not zero along the last dimension (kept) of a matrix.
at::Tensor row_rms(const at::Tensor& matrix) {
  return matrix.square().sum(-1, /*keepdim=*/true).div(matrix.ne(0).sum(-1, /*keepdim=*/true).clamp_min(1)).sqrt();
}

/// The largest ratio of a row's error norm to what it may be, and the row's index: both [1], zeros where no row is
/// asked.
/// @param scale, more  [rows, 1]: the rms that of_row_norm is relative to, and what each element may be off besides
std::pair<at::Tensor, at::Tensor> worst_row(const at::Tensor& errors, const at::Tensor& scale, const at::Tensor& more,
                                            double of_row_norm) {
  const at::Tensor zero = at::scalar_tensor(0.0, errors.options());
  if (std::isinf(of_row_norm)) return {zero.view({1}), zero.view({1})};
  const at::Tensor norms = errors.norm(2, -1);
  const double root = std::sqrt(static_cast<double>(errors.size(1)));
  const at::Tensor ratio =
      at::where(norms.eq(0), zero, norms.div(scale.mul(of_row_norm).add(more).mul(root).view({-1})));
  const at::Tensor worst = at::argmax(ratio, 0, /*keepdim=*/true);
  return {element(ratio, worst), worst.to(at::kDouble)};
}

at::Tensor reduce(const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance,
                  const at::Tensor& row_allowance) {
  const at::Tensor a = actual.detach().to(at::kDouble).flatten();
  const at::Tensor r = reference.detach().to(at::kDouble).flatten();
  const at::Tensor matrix = r.view({-1, reference.dim() > 0 ? reference.size(-1) : std::int64_t{1}});
  // Tolerances of an element alone know no scale: a third of the operations, which is what a small tensor costs.
  const bool knows_scale = tolerance.of_rms != 0 || !std::isinf(tolerance.of_row_norm);
  const at::Tensor scale = knows_scale ? at::maximum(row_rms(matrix), row_rms(matrix.view({1, -1})))
                                       : at::zeros({matrix.size(0), 1}, matrix.options());
  const at::Tensor more = row_allowance.defined() ? row_allowance.view({-1, 1}) : at::zeros_like(scale);
  const at::Tensor of_row = scale.mul(tolerance.of_rms).add(tolerance.absolute).add(more);
  const at::Tensor allowed = matrix.abs().mul(tolerance.relative).add(of_row).flatten();
  const at::Tensor error = a.sub(r).abs();
  const at::Tensor zero = at::scalar_tensor(0.0, a.options());
  const at::Tensor infinity = at::scalar_tensor(std::numeric_limits<double>::infinity(), a.options());
  const at::Tensor finite = at::isfinite(a).logical_and(at::isfinite(r));
  // No error is no error, even where nothing is allowed (0 / 0).
  const at::Tensor ratio = at::where(finite, at::where(error.eq(0), zero, error.div(allowed)), infinity);
  const at::Tensor worst = at::argmax(ratio, 0, /*keepdim=*/true);
  const at::Tensor bad = ratio.gt(1.0);
  const at::Tensor first = at::argmax(bad.to(at::kByte), 0, /*keepdim=*/true);
  const at::Tensor error_norm = error.norm();
  // An infinite tolerance leaves the norm alone, also that of a reference of zeros (0 * infinity).
  const at::Tensor norm_ratio =
      std::isinf(tolerance.of_norm)
          ? zero
          : at::where(error_norm.eq(0), zero, error_norm.div(r.norm().mul(tolerance.of_norm)));
  const auto [row_ratio, row] = worst_row(error.view(matrix.sizes()), scale, more, tolerance.of_row_norm);
  const at::Tensor count = bad.sum().to(at::kDouble).view({1});
  return at::cat({element(ratio, worst), worst.to(at::kDouble), count, first.to(at::kDouble), element(a, first),
                  element(r, first), element(ratio, first), norm_ratio.view({1}), row_ratio, row});
}

std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// A ratio that is not finite comes from an element that is not: that is as wrong as can be.
double capped(double ratio) { return std::isfinite(ratio) ? std::min(ratio, kWorstErrorCap) : kWorstErrorCap; }

/// Notes a ratio of error to tolerance, and the message where it is above 1.
void note(Verification& result, double ratio, const std::string& where, const std::string& message) {
  if (result.worst_where.empty() || ratio > result.worst_error) {
    result.worst_error = ratio;
    result.worst_where = where;
  }
  if (ratio <= 1.0) return;
  if (result.passed) result.message = message;
  result.passed = false;
}

}  // namespace

void Comparison::add(std::string name, const at::Tensor& actual, const at::Tensor& reference,
                     const Tolerance& tolerance, const at::Tensor& row_allowance) {
  const at::NoGradGuard no_grad;
  Entry entry{.name = std::move(name),
              .shape = reference.sizes().vec(),
              .shape_error = {},
              .tolerance = tolerance,
              .statistics = {}};
  if (!actual.defined()) {
    entry.shape_error = "the implementation returned none";
  } else if (actual.sizes() != reference.sizes()) {
    entry.shape_error = fmt::format("its shape is [{}], the reference's is [{}]", fmt::join(actual.sizes().vec(), ", "),
                                    fmt::join(entry.shape, ", "));
  } else {
    entry.statistics = reduce(actual, reference, tolerance, row_allowance);
  }
  entries_.push_back(std::move(entry));
}

Verification Comparison::finish(std::string reference) const {
  Verification result{
      .passed = true, .reference = std::move(reference), .worst_error = 0, .worst_where = {}, .message = {}};
  std::vector<at::Tensor> statistics;
  for (const auto& entry : entries_) {
    if (entry.statistics.defined()) statistics.push_back(entry.statistics);
  }
  const at::Tensor table = statistics.empty() ? at::Tensor{} : at::stack(statistics).cpu();
  const double* row = table.defined() ? table.const_data_ptr<double>() : nullptr;
  for (const auto& entry : entries_) {
    if (!entry.shape_error.empty()) {
      note(result, kWorstErrorCap, entry.name, fmt::format("{}: {}", entry.name, entry.shape_error));
      continue;
    }
    const auto index = [&](Statistic statistic) {
      return entry.name + index_text(static_cast<std::int64_t>(row[statistic]), entry.shape);
    };
    note(result, capped(row[kWorstRatio]), index(kWorstIndex),
         fmt::format("{} is {:.9g}, the reference {:.9g}: {:.3g} times the tolerance (bad elements: {})",
                     index(kFirstBadIndex), row[kFirstBadActual], row[kFirstBadReference], row[kFirstBadRatio],
                     row[kBadCount]));
    note(result, capped(row[kNormRatio]), entry.name + " (norm)",
         fmt::format(
             "{}: the norm of the error is {:.3g} times the tolerance, although no single element exceeds its own",
             entry.name, row[kNormRatio]));
    const std::int64_t columns = entry.shape.empty() ? 1 : entry.shape.back();
    const std::string row_name =
        fmt::format("{} (norm of the row)",
                    entry.name + index_text(static_cast<std::int64_t>(row[kWorstRow]) * columns, entry.shape));
    note(
        result, capped(row[kWorstRowRatio]), row_name,
        fmt::format("{}: the row of {} has an error whose norm is {:.3g} times the tolerance", entry.name,
                    index_text(static_cast<std::int64_t>(row[kWorstRow]) * columns, entry.shape), row[kWorstRowRatio]));
    row += kStatisticCount;
  }
  return result;
}

Verification compare_tensors(const std::string& name, const at::Tensor& actual, const at::Tensor& reference,
                             const Tolerance& tolerance) {
  Comparison comparison;
  comparison.add(name, actual, reference, tolerance);
  return comparison.finish({});
}

bool has_same_bytes(const at::Tensor& a, const at::Tensor& b) {
  return a.detach().flatten().view(at::kByte).equal(b.detach().flatten().view(at::kByte));
}

Verification verify_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                          std::string reference) {
  const at::Tensor differs = at::ne(actual, expected).flatten();  // true for NaN
  if (!differs.any().item<bool>()) {
    return {.passed = true, .reference = std::move(reference), .worst_error = 0, .worst_where = {}, .message = {}};
  }
  const auto first = at::argmax(differs.view(at::kByte), 0).item<std::int64_t>();
  const auto value = [&](const at::Tensor& tensor) { return tensor.flatten()[first].item<double>(); };
  return {.passed = false,
          .reference = std::move(reference),
          .worst_error = kWorstErrorCap,
          .worst_where = fmt::format("{}[{}]", name, first),
          .message = fmt::format("{}[{}] is {:.9g}, but must be exactly {:.9g} (bad elements: {})", name, first,
                                 value(actual), value(expected), differs.sum().item<std::int64_t>())};
}

}  // namespace tbench::model

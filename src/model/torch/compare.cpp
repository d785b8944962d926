#include "model/torch/compare.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/fmax.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "model/torch/rounding.hpp"

namespace tbench::model {
namespace {

/// Indexes of the values that reduce() computes from a pair of tensors. "Ratio" is error over tolerance.
enum Value : std::int64_t {
  kWorstRatio,
  kFirstBadRatio,
  kFirstBadActual,
  kFirstBadReference,
  kNormRatio,
  kWorstRowRatio
};
/// Indexes of the element indices and the count that reduce() computes.
enum Count : std::int64_t { kWorstIndex, kFirstBadIndex, kGoodCount, kWorstRow };

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Bytes of waiting references at which they are compared together: enough to occupy a GPU, and little compared with a
/// model.
constexpr std::size_t kBatchBytes = std::size_t{64} << 20;

/// Returns the dtype in which errors are computed: for 16-bit and float32 tensors float32, whose error is off by at
/// most one rounding; otherwise float64.
at::ScalarType error_dtype(const at::Tensor& actual, const at::Tensor& reference) {
  const auto is_short = [](const at::Tensor& tensor) {
    return at::isFloatingType(tensor.scalar_type()) && tensor.element_size() <= 4;
  };
  return is_short(actual) && is_short(reference) ? at::kFloat : at::kDouble;
}

/// Returns the factor by which tolerances are widened. In float32, the ratio of an error to its bound carries a few
/// rounding errors, and an error exactly at its bound must still pass.
double slack(at::ScalarType dtype) { return dtype == at::kFloat ? 1.0 + 0x1p-20 : 1.0; }

/// Raises allowed errors in place to the smallest positive number, so that no error divided by no allowance is 0
/// instead of NaN.
at::Tensor& at_least_a_little(at::Tensor& allowed) {
  return allowed.clamp_min_(allowed.scalar_type() == at::kDouble
                                ? std::numeric_limits<double>::denorm_min()
                                : static_cast<double>(std::numeric_limits<float>::denorm_min()));
}

/// Returns the norm of each row: [tensors, rows, 1]. Whole norms are norms of these, since float32 adds up that many
/// terms more exactly in two stages.
at::Tensor row_norms(const at::Tensor& matrices, double order = 2.0) {
  return at::linalg_vector_norm(matrices, order, at::IntArrayRef{-1}, /*keepdim=*/true);
}

/// Returns the norm of each matrix, from its rows' norms: [tensors, 1, 1].
at::Tensor whole_norms(const at::Tensor& of_rows) {
  return at::linalg_vector_norm(of_rows, 2.0, at::IntArrayRef{1}, /*keepdim=*/true);
}

/// The scale that allowed errors are relative to.
struct Scale {
  at::Tensor norm;  // [tensors, 1, 1]: norm of each reference
  at::Tensor rows;  // [tensors, rows, 1]: root mean square of the nonzero elements, in the row or in the whole,
                    // whichever is larger
};

/// Returns the scale of each reference.
/// @param matrices  references, [tensors, rows, columns]
Scale scale_of(const at::Tensor& matrices) {
  at::Tensor norms = row_norms(matrices);
  const at::Tensor roots = row_norms(matrices, 0.0).sqrt_();  // of the number of nonzero elements
  const at::Tensor norm = whole_norms(norms);
  const at::Tensor whole = norm.div(whole_norms(roots));
  // A row or a whole of zeros gives 0 / 0, and one whose squares overflow gives infinity; neither allows any error.
  return {.norm = norm, .rows = at::fmax(norms.div_(roots), whole).nan_to_num_(0.0, 0.0)};
}

/// Returns the additional allowance of every row, in a shape that broadcasts with [tensors, rows, 1].
at::Tensor allowance_of_rows(const at::Tensor& row_allowance, at::ScalarType dtype) {
  return row_allowance.to(dtype).view({1, -1, 1});
}

/// Returns the allowed error of a row's elements without the part that is relative to each element: [tensors, rows, 1],
/// or [1, 1, 1] if it is the same for all rows.
at::Tensor row_tolerance(const Tolerance& tolerance, const at::Tensor& scale, const at::Tensor& row_allowance,
                         const at::TensorOptions& options) {
  at::Tensor allowed =
      tolerance.of_rms != 0 ? scale.mul(tolerance.of_rms) : at::full({1, 1, 1}, tolerance.absolute, options);
  if (tolerance.of_rms != 0 && tolerance.absolute != 0) allowed.add_(tolerance.absolute);
  const at::ScalarType dtype = allowed.scalar_type();
  if (row_allowance.defined()) allowed = allowed.add(allowance_of_rows(row_allowance, dtype), slack(dtype));
  return at_least_a_little(allowed);
}

/// Returns the largest ratio of a row's error norm to its allowed norm, and the row's index: both [tensors, 1].
/// @param errors  norm of each row's error, [tensors, rows, 1]
std::pair<at::Tensor, at::Tensor> worst_row(const at::Tensor& errors, std::int64_t columns, const at::Tensor& scale,
                                            const at::Tensor& row_allowance, double of_row_norm) {
  at::Tensor allowed = scale.mul(of_row_norm);
  const at::ScalarType dtype = allowed.scalar_type();
  if (row_allowance.defined()) allowed.add_(allowance_of_rows(row_allowance, dtype), slack(dtype));
  allowed.mul_(std::sqrt(static_cast<double>(columns)));
  const at::Tensor ratio = errors.div(at_least_a_little(allowed)).flatten(1);
  const at::Tensor worst = at::argmax(ratio, 1, /*keepdim=*/true);
  return {ratio.gather(1, worst), worst};
}

/// Reduces pairs of tensors to the values and counts of Value and Count. Enqueues about 30 operations; 12 of them read
/// all elements, 70 bytes per element of float32.
/// @param actual, reference  stacked tensors, [tensors, ...]
/// @return                   [tensors, Value] and [tensors, Count]; norm and row values only if the tolerance has them
std::pair<at::Tensor, at::Tensor> reduce(const at::Tensor& actual, const at::Tensor& reference, Tolerance tolerance,
                                         const at::Tensor& row_allowance) {
  const at::ScalarType dtype = error_dtype(actual, reference);
  for (double* part :
       {&tolerance.relative, &tolerance.of_rms, &tolerance.absolute, &tolerance.of_norm, &tolerance.of_row_norm}) {
    *part *= slack(dtype);
  }
  const std::int64_t tensors = reference.size(0), columns = reference.dim() > 1 ? reference.size(-1) : 1;
  const bool is_number = at::isFloatingType(actual.scalar_type());
  const at::Tensor a = (is_number ? actual.detach() : actual.to(dtype)).reshape({tensors, -1});
  const at::Tensor r = reference.detach().to(dtype).reshape({tensors, -1});
  const at::Tensor matrices = r.view({tensors, -1, columns});
  const bool knows_rows = !std::isinf(tolerance.of_row_norm), knows_norm = !std::isinf(tolerance.of_norm);
  // Tolerances of single elements need no scale, which saves half of the operations; their number is the cost of small
  // tensors.
  const Scale scale = tolerance.of_rms != 0 || knows_rows || knows_norm ? scale_of(matrices) : Scale{};
  const at::Tensor of_row = row_tolerance(tolerance, scale.rows, row_allowance, r.options());
  const at::Tensor error = at::sub(a, r).abs_().view(matrices.sizes());
  const at::Tensor ratio = error.div(at::add(of_row, matrices.abs(), tolerance.relative)).view(r.sizes());
  const at::Tensor good = ratio.le(1.0);  // false for NaN
  const at::Tensor worst = at::argmax(ratio, 1, /*keepdim=*/true);
  const at::Tensor first = at::argmin(good.view(at::kByte), 1, /*keepdim=*/true);
  const at::Tensor indices = at::cat({worst, first}, 1);

  std::vector<at::Tensor> values{ratio.gather(1, indices), a.gather(1, first).to(dtype), r.gather(1, first)};
  std::vector<at::Tensor> counts{indices, good.sum(1, /*keepdim=*/true)};
  if (knows_norm || knows_rows) {
    const at::Tensor errors = row_norms(error);
    // An infinite tolerance must not be multiplied by the norm of a reference of zeros (0 * infinity is NaN).
    at::Tensor allowed = knows_norm ? scale.norm.mul(tolerance.of_norm) : at::full({1, 1, 1}, kInfinity, r.options());
    values.push_back(whole_norms(errors).div(at_least_a_little(allowed)).flatten(1));
    if (knows_rows) {
      auto [row_ratio, row] = worst_row(errors, columns, scale.rows, row_allowance, tolerance.of_row_norm);
      values.push_back(std::move(row_ratio));
      counts.push_back(std::move(row));
    }
  }
  return {at::cat(values, 1), at::cat(counts, 1)};
}

std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// Caps a ratio at kWorstErrorCap. A ratio that is not finite comes from an element that is not finite and counts as
/// the worst error.
double capped(double ratio) { return std::isfinite(ratio) ? std::min(ratio, kWorstErrorCap) : kWorstErrorCap; }

/// Notes a ratio of error to tolerance, and the message if the ratio is above 1.
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

Tolerance widened(const Tolerance& tolerance) {
  constexpr double kManyComparisons = 1.6;
  return {.relative = tolerance.relative * kManyComparisons,
          .of_rms = tolerance.of_rms * kManyComparisons,
          .absolute = tolerance.absolute * kManyComparisons,
          .of_norm = tolerance.of_norm * kManyComparisons,
          .of_row_norm = tolerance.of_row_norm * kManyComparisons};
}

void Comparison::add(std::string name, const at::Tensor& actual, const at::Tensor& reference,
                     const Tolerance& tolerance, const at::Tensor& row_allowance) {
  add_now({{.name = std::move(name), .shape = reference.sizes().vec()}}, actual, reference, tolerance, row_allowance);
}

void Comparison::add(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference,
                     const Tolerance& tolerance) {
  if (tolerance.of_rms != 0 || !std::isinf(tolerance.of_norm) || !std::isinf(tolerance.of_row_norm)) {
    throw std::invalid_argument{"Comparison: tensors that are compared as one have tolerances of an element alone"};
  }
  add_now(std::move(parts), actual, reference, tolerance, {});
}

void Comparison::add_now(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference,
                         const Tolerance& tolerance, const at::Tensor& row_allowance) {
  if (!enter(std::move(parts), actual, reference)) return;
  compare({.tolerance = tolerance, .actual = {actual}, .reference = {reference}, .entries = {entries_.size() - 1}},
          row_allowance);
}

void Comparison::add_batched(std::string name, const at::Tensor& actual, const at::Tensor& reference,
                             const Tolerance& tolerance) {
  if (!enter({{.name = std::move(name), .shape = reference.sizes().vec()}}, actual, reference)) return;
  auto batch =
      std::ranges::find_if(waiting_, [&](const Batch& other) { return other.takes(actual, reference, tolerance); });
  if (batch == waiting_.end()) batch = waiting_.insert(batch, Batch{.tolerance = tolerance});
  batch->actual.push_back(actual.detach());
  batch->reference.push_back(reference.detach());
  batch->entries.push_back(entries_.size() - 1);
  if (batch->reference.size() * reference.nbytes() < kBatchBytes) return;
  compare(*batch, {});
  waiting_.erase(batch);
}

bool Comparison::Batch::takes(const at::Tensor& a, const at::Tensor& r, const Tolerance& t) const {
  const auto is_alike = [](const at::Tensor& one, const at::Tensor& other) {
    return one.sizes() == other.sizes() && one.options().type_equal(other.options());
  };
  return tolerance == t && is_alike(actual.front(), a) && is_alike(reference.front(), r);
}

bool Comparison::enter(std::vector<Part> parts, const at::Tensor& actual, const at::Tensor& reference) {
  Entry& entry = entries_.emplace_back(Entry{.parts = std::move(parts), .elements = reference.numel()});
  if (!actual.defined()) {
    entry.shape_error = "the implementation returned none";
  } else if (actual.sizes() != reference.sizes()) {
    entry.shape_error = fmt::format("its shape is [{}], the reference's is [{}]", fmt::join(actual.sizes().vec(), ", "),
                                    fmt::join(reference.sizes().vec(), ", "));
  }
  return entry.shape_error.empty();
}

void Comparison::compare(const Batch& batch, const at::Tensor& row_allowance) {
  const at::NoGradGuard no_grad;
  const auto stacked = [](const std::vector<at::Tensor>& tensors) {
    return tensors.size() == 1 ? tensors.front().unsqueeze(0) : at::stack(tensors);
  };
  auto [values, counts] = reduce(stacked(batch.actual), stacked(batch.reference), batch.tolerance, row_allowance);
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    Entry& entry = entries_[batch.entries[i]];
    entry.values = values[static_cast<std::int64_t>(i)];
    entry.counts = counts[static_cast<std::int64_t>(i)];
  }
}

void Comparison::compare_waiting() {
  for (const Batch& batch : std::exchange(waiting_, {})) compare(batch, {});
}

Verification Comparison::finish(std::string reference) {
  compare_waiting();
  Verification result{
      .passed = true, .reference = std::move(reference), .worst_error = 0, .worst_where = {}, .message = {}};
  std::vector<at::Tensor> values, counts;
  for (const auto& entry : entries_) {
    if (!entry.values.defined()) continue;
    values.push_back(entry.values);
    counts.push_back(entry.counts);
  }
  const at::Tensor numbers =
      values.empty() ? at::Tensor{} : at::cat({at::cat(values).to(at::kDouble), at::cat(counts).to(at::kDouble)}).cpu();
  const double* value = numbers.defined() ? numbers.const_data_ptr<double>() : nullptr;
  const double* count = value;
  for (const auto& of_entry : values) count += of_entry.numel();
  for (const auto& entry : entries_) {
    if (!entry.values.defined()) {
      const std::string& name = entry.parts.front().name;
      note(result, kWorstErrorCap, name, fmt::format("{}: {}", name, entry.shape_error));
      continue;
    }
    entry.note_in(result, value, count);
    value += entry.values.numel();
    count += entry.counts.numel();
  }
  return result;
}

std::string Comparison::Entry::element_text(double index) const {
  auto flat = static_cast<std::int64_t>(index);
  for (const Part& part : parts) {
    const std::int64_t size = c10::multiply_integers(part.shape);
    if (flat < size || &part == &parts.back()) return part.name + index_text(flat, part.shape);
    flat -= size;
  }
  return {};
}

void Comparison::Entry::note_in(Verification& result, const double* value, const double* count) const {
  note(result, capped(value[kWorstRatio]), element_text(count[kWorstIndex]),
       fmt::format("{} is {:.9g}, the reference {:.9g}: {:.3g} times the tolerance (bad elements: {})",
                   element_text(count[kFirstBadIndex]), value[kFirstBadActual], value[kFirstBadReference],
                   value[kFirstBadRatio], static_cast<double>(elements) - count[kGoodCount]));
  if (values.numel() <= kNormRatio) return;
  const Part& whole = parts.front();
  note(
      result, capped(value[kNormRatio]), whole.name + " (norm)",
      fmt::format("{}: the norm of the error is {:.3g} times the tolerance, although no single element exceeds its own",
                  whole.name, value[kNormRatio]));
  if (values.numel() <= kWorstRowRatio) return;
  const std::int64_t columns = whole.shape.empty() ? 1 : whole.shape.back();
  const std::string row = index_text(static_cast<std::int64_t>(count[kWorstRow]) * columns, whole.shape);
  note(result, capped(value[kWorstRowRatio]), fmt::format("{}{} (norm of the row)", whole.name, row),
       fmt::format("{}: the row of {} has an error whose norm is {:.3g} times the tolerance", whole.name, row,
                   value[kWorstRowRatio]));
}

Verification compare_tensors(const std::string& name, const at::Tensor& actual, const at::Tensor& reference,
                             const Tolerance& tolerance) {
  Comparison comparison;
  comparison.add(name, actual, reference, tolerance);
  return comparison.finish({});
}

at::Tensor signed_sum_bounds(const at::Tensor& reference, const Tolerance& tolerance, const at::Tensor& row_allowance,
                             double budget) {
  // Two float64 sums of a row in different orders differ by less than this fraction of the row's norm.
  constexpr double kOrder = 0x1p-40;
  const double root = std::sqrt(static_cast<double>(reference.size(1)));
  const at::Tensor norms = row_norms(reference).squeeze(1);
  const at::Tensor scale = scale_of(reference.unsqueeze(0)).rows.flatten();
  const at::Tensor allowance =
      row_allowance.defined() ? row_allowance.to(at::kDouble).flatten() : at::zeros_like(norms);
  at::Tensor bound = scale.mul(tolerance.of_rms).add(tolerance.absolute).add(allowance).mul(root);
  bound.add_(norms.mul(tolerance.relative + kOrder));
  if (!std::isinf(tolerance.of_row_norm)) {
    bound = at::minimum(bound, scale.mul(tolerance.of_row_norm).add(allowance).mul(root));
  }
  return bound.mul(sum_bound(static_cast<double>(reference.size(0)), budget));
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

Verification worse_of(Verification a, Verification b) {
  const bool is_a = a.passed == b.passed ? a.worst_error > b.worst_error : b.passed;
  return is_a ? std::move(a) : std::move(b);
}

}  // namespace tbench::model

#include "model/operations/gemm/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/torch/rounding.hpp"

namespace tbench::model {
namespace {

// The largest number of multiplications in float64, beyond one row and one column. An H200 takes 5 ms for that many (60
// TFLOP/s), a GPU with a 64th of its float64 rate 0.2 s; one core of a CPU takes about 0.1 s for its own limit.
constexpr std::int64_t kGpuCheckedProducts = std::int64_t{1} << 36;
constexpr std::int64_t kCpuCheckedProducts = std::int64_t{1} << 28;
/// The number of elements of the longer operand that are held in float64 at once: 1 GiB.
constexpr std::int64_t kBlockElements = std::int64_t{1} << 27;
/// Buffer index for the signs' seed, after the indexes of x and w.
constexpr std::uint64_t kSignsIndex = 2;

// How far rounding moves y. x and w are normal, so that a sum of k terms s_1 ... s_k is a random walk with an rms of
// sqrt(k); u is the unit round-off of the rounded number. A rounding error is uniform, at most u of the value, and
// independent of the others. Errors are sums of roundings, bounded as rounding.hpp says.
//   fp32    Every partial sum is rounded, at worst one after the other: the error of a walk, with the norm
//           u sqrt(k / 6). (An H200 shows 0.3 u sqrt(k), since most values are nearer to a power of two than 1.) Every
//           term x w is rounded, too, unless product and sum are one operation.
//   tf32    x and w are rounded to 11 bits, or truncated if the tensor core reads float32 directly. Truncation has a
//           mean relative error of 0.36 * 2^-10 in each, always towards 0, so that y shrinks by 1.4 u and each term
//           scatters by 0.64 u. (An H200 shows 0.6 u in all: it rounds.)
//   16 bit  Products are exact in float32, and y is rounded: at most u of each element. With split-K, the partial
//           sums may be rounded as well, and again when they are added: a walk of few steps. fp8's output is bf16.
//   In all precisions but fp32, tensor cores truncate sums at 2^-23 of the largest term, towards 0, once per
//   `kTermsAStep` terms.
// TF32 instead of fp32 exceeds these bounds, and so does a 16-bit accumulator with a k of thousands.
// Roundings of terms add up like the sum of squares of k terms x w. It is k on average, with a variance of 8 k; its
// largest outliers are single terms, of size ln(terms): see product_spread(). Elements, norms, norms of rows and signed
// sums share the budget. For given errors of a row, their sum with random signs exceeds z of their norm with a
// probability of 2 exp(-z^2 / 2). A norm's square is a sum of squared errors Q g^2, with a walk's Q and a normal g. The
// variance of such a square is 6 times its squared mean, while chi2_1 has a variance of 2, so that three such errors
// count as one degree of freedom. Errors of a row or column share that line of x or w, whose own square has a relative
// variance of 2 / k: see degrees_of().
constexpr double kFp32Unit = 0x1p-24;
constexpr double kTf32Shrinkage = 1.5, kTf32Scatter = 0.64;
constexpr double kMaxSplits = 32.0, kLeastTermsOfASplit = 32.0;  // limits of cuBLASLt's algorithms
constexpr double kCutOff = 0x1p-23;
constexpr double kTermsAStep = 8.0;
constexpr double kBudget = kVerificationBudget / 4;
constexpr double kErrorsADegree = 3.0;

/// Returns the unit round-off of y in storage, or of the inputs if they are rounded more coarsely.
double rounding_unit(GemmPrecision precision) {
  return unit_roundoff(common_precision(precision).value_or(Precision::kBf16));
}

/// Errors in units of the rms of y, sqrt(k).
struct GemmError {
  double relative{};  // further error of an element, relative to the element
  double element{};   // bound for all elements
  double rms{};
};

/// Returns the truncation error of all precisions except fp32: at most kCutOff of the mean |s_j| per step, which for
/// one of the elements may be as large as the root of a walk's largest Q.
GemmError cut_off_error(double k, double count) {
  const double steps = k / kTermsAStep * kCutOff;
  return {.element = steps * std::sqrt(walk_bound(count, kBudget) * 4.0 / std::numbers::pi),
          .rms = steps * std::numbers::sqrt2 / 2.0};
}

GemmError rounding_error(GemmPrecision precision, double k, double count) {
  const double z = sum_bound(count, kBudget);
  if (precision == GemmPrecision::kFp32) {
    return {.element = kFp32Unit * (walk_bound(count, kBudget) * walk_roundoffs(k) +
                                    z * kRoundingRms * product_spread(k, count, kBudget)),
            .rms = kFp32Unit * std::hypot(walk_roundoffs(k) * std::numbers::sqrt2 / 2.0, kRoundingRms)};
  }
  const double unit = rounding_unit(precision);
  GemmError error = cut_off_error(k, count);
  if (precision == GemmPrecision::kTf32) {
    error.relative = kTf32Shrinkage * unit;
    error.element += unit * z * kTf32Scatter * product_spread(k, count, kBudget);
    error.rms += unit * std::hypot(kTf32Shrinkage, kTf32Scatter);
    return error;
  }
  error.relative = unit;
  error.rms += unit * kRoundingRms;
  if (const double splits = std::min(std::floor(k / kLeastTermsOfASplit), kMaxSplits); splits >= 2.0) {
    error.element += unit * (walk_bound(count, kBudget) * walk_roundoffs(splits) + z * kRoundingRms);
    error.rms += unit * std::hypot(walk_roundoffs(splits) * std::numbers::sqrt2 / 2.0, kRoundingRms);
  }
  return error;
}

/// Returns the value of an operand in float64.
at::Tensor in_double(const at::Tensor& values, const at::Tensor& scale) {
  const at::Tensor result = values.to(at::kDouble);
  return scale.defined() ? result.mul(scale.to(at::kDouble)) : result;
}

struct GemmOperand {
  at::Tensor values;  // [lines, k]
  at::Tensor scale;
};

/// Selects rows by index. FP8 tensors do not support indexing, so they are indexed as bytes.
at::Tensor selected_rows(const at::Tensor& values, const at::Tensor& rows) {
  if (values.element_size() > 1) return values.index_select(0, rows);
  return values.view(at::kByte).index_select(0, rows).view(values.scalar_type());
}

GemmOperand lines_of(const GemmOperand& operand, const CheckedLines& lines) {
  return {operand.values.slice(0, lines.begin, operand.values.size(0), lines.step), operand.scale};
}

/// Calls action(first, count) for blocks of a matrix's rows, each of the largest size that is held in float64 at once.
template <class Action>
void in_blocks(std::int64_t rows, std::int64_t columns, const Action& action) {
  const std::int64_t block = std::max<std::int64_t>(1, kBlockElements / columns);
  for (std::int64_t first = 0; first < rows; first += block) action(first, std::min(block, rows - first));
}

/// Returns few [f, k] times many [c, k]^T in float64, with `many` in blocks of rows.
at::Tensor double_product(const GemmOperand& few, const GemmOperand& many) {
  const at::Tensor left = in_double(few.values, few.scale);
  std::vector<at::Tensor> parts;
  in_blocks(many.values.size(0), many.values.size(1), [&](std::int64_t first, std::int64_t count) {
    parts.push_back(at::mm(left, in_double(many.values.narrow(0, first, count), many.scale).t()));
  });
  return at::cat(parts, 1);
}

CheckedLines evenly_spaced(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  const std::int64_t step = (extent + count - 1) / count;
  return {.begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(step)), .step = step};
}

/// Returns the sum of each row's elements with signs, in float64: x (w^T r).
at::Tensor signed_sums(const GemmOperand& x, const GemmOperand& w, const at::Tensor& signs) {
  const std::int64_t k = x.values.size(1);
  at::Tensor of_w = at::zeros({k}, signs.options());  // w^T r
  in_blocks(w.values.size(0), k, [&](std::int64_t first, std::int64_t count) {
    of_w.add_(at::mv(in_double(w.values.narrow(0, first, count), w.scale).t(), signs.narrow(0, first, count)));
  });
  std::vector<at::Tensor> sums;
  in_blocks(x.values.size(0), k, [&](std::int64_t first, std::int64_t count) {
    sums.push_back(at::mv(in_double(x.values.narrow(0, first, count), x.scale), of_w));
  });
  return at::cat(sums);
}

/// Compares parts of y with float64, and adds up the squares for relative_error.
class GemmComparison {
 public:
  explicit GemmComparison(const GemmOperands& operands)
      : y_{operands.y}, config_{operands.config}, x_{operands.x, operands.x_scale}, w_{operands.w, operands.w_scale} {}

  void add_whole() { add("y", y_, double_product(x_, w_)); }

  void add_rows(const CheckedLines& rows) {
    add(fmt::format("y of rows {} + {} i", rows.begin, rows.step), y_.slice(0, rows.begin, y_.size(0), rows.step),
        double_product(lines_of(x_, rows), w_));
  }

  void add_columns(const CheckedLines& columns) {
    add(fmt::format("y of columns {} + {} i, transposed", columns.begin, columns.step),
        y_.slice(1, columns.begin, y_.size(1), columns.step).t(), double_product(lines_of(w_, columns), x_));
  }

  /// Adds the signed sum of every row to the comparison. A row with a non-finite element has no finite sum.
  void add_signed_sums() {
    const at::Tensor signs = seeded_normal({config_.n}, at::kDouble, config_.device, config_.seed, kSignsIndex).sign();
    std::vector<at::Tensor> actual;
    in_blocks(config_.m, config_.n, [&](std::int64_t first, std::int64_t count) {
      actual.push_back(at::mv(y_.narrow(0, first, count).to(at::kDouble), signs));
    });
    comparison_.add("y r of random signs r", at::cat(actual), signed_sums(x_, w_, signs),
                    gemm_tolerances(config_.precision, config_.k, config_.m, config_.n).signed_sum);
  }

  [[nodiscard]] GemmVerdict finish(std::string reference) {
    return {.verification = comparison_.finish(std::move(reference)),
            .relative_error = std::sqrt(error_squares_.item<double>() / reference_squares_.item<double>())};
  }

 private:
  void add(const std::string& name, const at::Tensor& actual, const at::Tensor& reference) {
    comparison_.add(name, actual, reference,
                    gemm_tolerances(config_.precision, config_.k, actual.size(0), actual.size(1)).element);
    add_to(error_squares_, actual.to(at::kDouble).sub(reference).square().sum());
    add_to(reference_squares_, reference.square().sum());
  }

  static void add_to(at::Tensor& total, const at::Tensor& more) { total = total.defined() ? total.add(more) : more; }

  at::Tensor y_;
  const GemmConfig& config_;
  GemmOperand x_, w_;
  Comparison comparison_;
  at::Tensor error_squares_, reference_squares_;
};

/// Returns the verdict on a product's own y that has the wrong shape.
Verification wrong_shape(const at::Tensor& y, const std::vector<std::int64_t>& shape) {
  Comparison comparison;
  comparison.add("y", y, y.new_empty({}).expand(shape), {});
  return comparison.finish("float64 of the formula, of the same inputs");
}

}  // namespace

CheckedPart checked_part(const GemmConfig& config) {
  const std::int64_t budget = config.device == DeviceKind::kCuda ? kGpuCheckedProducts : kCpuCheckedProducts;
  if (config.m * config.n <= budget / config.k) return {.whole = true, .rows = {}, .columns = {}};
  const std::int64_t lines = std::max<std::int64_t>(1, budget / config.k / (config.m + config.n));
  std::mt19937_64 random{config.seed};
  const CheckedLines rows = evenly_spaced(config.m, std::min(lines, config.m), random);
  return {.whole = false, .rows = rows, .columns = evenly_spaced(config.n, std::min(lines, config.n), random)};
}

GemmTolerances gemm_tolerances(GemmPrecision precision, std::int64_t k, std::int64_t rows, std::int64_t columns) {
  const auto terms = static_cast<double>(k), height = static_cast<double>(rows), width = static_cast<double>(columns);
  const double rms = std::sqrt(terms);
  const double line = norm_fluctuation(
      terms, kBudget / (height + width));  // the largest norm of a line of x or w, relative to the mean
  const GemmError error = rounding_error(precision, terms, height * width);
  const auto degrees_of = [&](double elements_a_degree) {
    return 1.0 / (elements_a_degree / (height * width) + 1.0 / (terms * height) + 1.0 / (terms * width));
  };
  // The norm of a y with few elements may be arbitrarily small; then the tolerance of its elements has to suffice.
  const double shortfall = norm_shortfall(degrees_of(1.0), kBudget / 2);
  const auto of_norm = [&](double fluctuation) {
    return shortfall > 0.0 ? error.rms * fluctuation / shortfall : std::numeric_limits<double>::infinity();
  };
  const double row = line * norm_fluctuation(width / kErrorsADegree, kBudget / height);
  return {.element = {.relative = error.relative,
                      .of_rms = 0.0,
                      .absolute = error.element * rms * line,
                      .of_norm = of_norm(norm_fluctuation(degrees_of(kErrorsADegree), kBudget / 2)),
                      .of_row_norm = of_norm(row)},
          .signed_sum = {.relative = 0.0,
                         .of_rms = 0.0,
                         .absolute = sum_bound(height, kBudget) * error.rms * rms * std::sqrt(width) * row}};
}

GemmVerdict verify_gemm(const GemmOperands& operands) {
  const at::NoGradGuard no_grad;
  GemmComparison comparison{operands};
  const CheckedPart part = checked_part(operands.config);
  std::string reference = "float64 of the formula, of the same inputs";
  if (part.whole) {
    comparison.add_whole();
    return comparison.finish(std::move(reference));
  }
  comparison.add_rows(part.rows);
  comparison.add_columns(part.columns);
  comparison.add_signed_sums();
  reference += fmt::format("; every {}th row from {} and every {}th column from {}, the others by sums with signs",
                           part.rows.step, part.rows.begin, part.columns.step, part.columns.begin);
  return comparison.finish(std::move(reference));
}

void add_gemm_rows(const GemmOperands& operands, std::string name, const at::Tensor& rows, const at::Tensor& y,
                   Comparison& comparison) {
  const GemmConfig& config = operands.config;
  const at::Tensor reference =
      double_product({selected_rows(operands.x, rows), operands.x_scale}, {operands.w, operands.w_scale});
  comparison.add_batched(std::move(name), y, reference,
                         widened(gemm_tolerances(config.precision, config.k, rows.size(0), config.n).element));
}

void add_gemm_sums(const GemmOperands& operands, std::string name, const at::Tensor& signs, const at::Tensor& sums,
                   Comparison& comparison) {
  const GemmConfig& config = operands.config;
  comparison.add(std::move(name), sums,
                 signed_sums({operands.x, operands.x_scale}, {operands.w, operands.w_scale}, signs),
                 widened(gemm_tolerances(config.precision, config.k, config.m, config.n).signed_sum));
}

GemmVerdict verify_gemm_product(GemmOperands& operands, GemmProduct& product, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  const auto launch = [&] {
    product.launch();
    if (product.makes_y()) operands.y = product.take_y();
  };
  if (product.makes_y()) launch();
  operands.y.fill_(std::numeric_limits<double>::quiet_NaN());
  if (product.makes_y()) operands.y.reset();  // the allocator reuses the memory with the NaNs
  if (operands.config.seed != seed) fill_gemm_operands(operands, seed);
  launch();
  const std::vector<std::int64_t> shape{operands.config.m, operands.config.n};
  if (operands.y.sizes() != shape) return {.verification = wrong_shape(operands.y, shape), .relative_error = 1.0};
  GemmVerdict verdict = verify_gemm(operands);
  if (product.makes_y()) operands.y.reset();
  const std::optional<std::string> changed = changed_gemm_operand(operands);
  if (verdict.verification.passed && changed) {
    verdict.verification.passed = false;
    verdict.verification.message = *changed + ": the product changed its input";
  }
  return verdict;
}

}  // namespace tbench::model

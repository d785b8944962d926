#include "model/operations/gemm/verify.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tbench::model {
namespace {

// Multiplications in float64 at most, beyond one row and one column. An H200 does so many in 5 ms (60 TFLOP/s), a GPU
// with a 64th of its float64 rate in 0.2 s, one core of a CPU in about 0.1 s.
constexpr std::int64_t kGpuCheckedProducts = std::int64_t{1} << 36;
constexpr std::int64_t kCpuCheckedProducts = std::int64_t{1} << 28;
/// Elements of the longer operand that are held in float64 at once: 1 GiB.
constexpr std::int64_t kBlockElements = std::int64_t{1} << 27;

// How far rounding moves y, of its rms: x and w are normal, so that a sum of k terms s_1 ... s_k is a random walk,
// rms sqrt(k). u is the unit round-off of what is rounded.
//   fp32    Every partial sum s_j is rounded, u sqrt(j) / sqrt(3): together u sqrt(k) / sqrt(6) = 0.41 u sqrt(k) of the
//           rms where terms are added one after the other, less where in blocks. Allowed: 8 u sqrt(k) of an element
//           (that of five times the rms has larger partial sums, too), u sqrt(k) of the norm, and 8 u, 2 u for few
//           terms.
//   tf32    x and w are rounded to 11 bits; cut off, where the tensor core reads float32 as it is: their mean relative
//           error is then 0.36 * 2^-10 each, always towards 0, so that y shrinks by 1.4 u, and it scatters by 0.5 u
//           more. An element of 5.5 times the rms: 11 u. Allowed: 32 u, of the norm 4 u.
//   16 bit  Products are exact in float32, y is rounded: u of each element. Where k is split, partial sums may be
//           rounded as well: those of 32 splits, added in turn, 1.6 u, six times that at the worst. Allowed: 12 u
//           beside each element's own, of the norm 3 u. fp8's output is bf16.
//   all but fp32: tensor cores cut sums off, at 2^-23 of the largest term, at every step of `kTermsAStep`, towards 0.
// TF32 in place of fp32 fails these, and so does a 16-bit accumulator along a k of thousands.
constexpr double kFp32Unit = 0x1p-24;
constexpr double kFloatFirst = 8.0, kFloatGrowth = 8.0;
constexpr double kFloatNormFirst = 2.0, kFloatNormGrowth = 1.0;
constexpr double kTf32Element = 32.0, kTf32Norm = 4.0;
constexpr double kShortElement = 12.0, kShortNorm = 3.0;
constexpr double kCutOff = 0x1p-23;
constexpr double kTermsAStep = 8.0;

/// The unit round-off of y in storage, or of the inputs where those are rounded more coarsely.
double rounding_unit(GemmPrecision precision) {
  return unit_roundoff(common_precision(precision).value_or(Precision::kBf16));
}

/// What an operand stands for, in float64.
at::Tensor in_double(const at::Tensor& values, const at::Tensor& scale) {
  const at::Tensor result = values.to(at::kDouble);
  return scale.defined() ? result.mul(scale.to(at::kDouble)) : result;
}

struct GemmOperand {
  at::Tensor values;  // [lines, k]
  at::Tensor scale;
};

GemmOperand lines_of(const GemmOperand& operand, const CheckedLines& lines) {
  return {operand.values.slice(0, lines.begin, operand.values.size(0), lines.step), operand.scale};
}

/// few [f, k] many [c, k]^T in float64, `many` in blocks of rows.
at::Tensor double_product(const GemmOperand& few, const GemmOperand& many) {
  const at::Tensor left = in_double(few.values, few.scale);
  const std::int64_t lines = many.values.size(0);
  const std::int64_t block = std::max<std::int64_t>(1, kBlockElements / many.values.size(1));
  std::vector<at::Tensor> parts;
  for (std::int64_t begin = 0; begin < lines; begin += block) {
    const at::Tensor right = many.values.narrow(0, begin, std::min(block, lines - begin));
    parts.push_back(at::mm(left, in_double(right, many.scale).t()));
  }
  return at::cat(parts, 1);
}

CheckedLines evenly_spaced(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  const std::int64_t step = (extent + count - 1) / count;
  return {.begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(step)), .step = step};
}

/// Compares parts of y with float64, and sums the squares for relative_error up.
class GemmComparison {
 public:
  explicit GemmComparison(const GemmOperands& operands)
      : y_{operands.y},
        tolerance_{gemm_tolerance(operands.config.precision, operands.config.k)},
        x_{operands.x, operands.x_scale},
        w_{operands.w, operands.w_scale} {}

  void add_whole() { add("y", y_, double_product(x_, w_)); }

  void add_rows(const CheckedLines& rows) {
    add(fmt::format("y of rows {} + {} i", rows.begin, rows.step), y_.slice(0, rows.begin, y_.size(0), rows.step),
        double_product(lines_of(x_, rows), w_));
  }

  void add_columns(const CheckedLines& columns) {
    add(fmt::format("y of columns {} + {} i, transposed", columns.begin, columns.step),
        y_.slice(1, columns.begin, y_.size(1), columns.step).t(), double_product(lines_of(w_, columns), x_));
  }

  void add_finite() {
    const at::Tensor odd = at::isfinite(y_).logical_not().sum();
    comparison_.add("elements of y that are not finite", odd, at::zeros_like(odd), {});
  }

  [[nodiscard]] GemmVerdict finish(std::string reference) const {
    return {.verification = comparison_.finish(std::move(reference)),
            .relative_error = std::sqrt(error_squares_.item<double>() / reference_squares_.item<double>())};
  }

 private:
  void add(const std::string& name, const at::Tensor& actual, const at::Tensor& reference) {
    comparison_.add(name, actual, reference, tolerance_);
    add_to(error_squares_, actual.to(at::kDouble).sub(reference).square().sum());
    add_to(reference_squares_, reference.square().sum());
  }

  static void add_to(at::Tensor& total, const at::Tensor& more) { total = total.defined() ? total.add(more) : more; }

  at::Tensor y_;
  Tolerance tolerance_;
  GemmOperand x_, w_;
  Comparison comparison_;
  at::Tensor error_squares_, reference_squares_;
};

}  // namespace

CheckedPart checked_part(const GemmConfig& config) {
  const std::int64_t budget = config.device == DeviceKind::kCuda ? kGpuCheckedProducts : kCpuCheckedProducts;
  if (config.m * config.n <= budget / config.k) return {.whole = true, .rows = {}, .columns = {}};
  const std::int64_t lines = std::max<std::int64_t>(1, budget / config.k / (config.m + config.n));
  std::mt19937_64 random{config.seed};
  const CheckedLines rows = evenly_spaced(config.m, std::min(lines, config.m), random);
  return {.whole = false, .rows = rows, .columns = evenly_spaced(config.n, std::min(lines, config.n), random)};
}

Tolerance gemm_tolerance(GemmPrecision precision, std::int64_t k) {
  const double terms = static_cast<double>(k);
  if (precision == GemmPrecision::kFp32) {
    const double growth = std::sqrt(terms) * kFp32Unit;
    return {.relative = 0.0,
            .of_rms = kFloatFirst * kFp32Unit + kFloatGrowth * growth,
            .absolute = 0.0,
            .of_norm = kFloatNormFirst * kFp32Unit + kFloatNormGrowth * growth};
  }
  const double unit = rounding_unit(precision);
  const bool is_tf32 = precision == GemmPrecision::kTf32;
  const double cut_off = terms / kTermsAStep * kCutOff;
  return {.relative = is_tf32 ? 0.0 : unit,
          .of_rms = (is_tf32 ? kTf32Element : kShortElement) * unit + cut_off,
          .absolute = 0.0,
          .of_norm = (is_tf32 ? kTf32Norm : kShortNorm) * unit + cut_off};
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
  comparison.add_finite();
  reference += fmt::format("; every {}th row from {} and every {}th column from {}, the others' elements are finite",
                           part.rows.step, part.rows.begin, part.columns.step, part.columns.begin);
  return comparison.finish(std::move(reference));
}

}  // namespace tbench::model

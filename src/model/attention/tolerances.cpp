#include "model/attention/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/torch/rounding.hpp"

namespace tbench::model {
namespace {

// Errors of attention. With normal inputs, scores s are normal, too. An absolute error of a score is a relative error
// of p, as is a rounding of p. Let e be the relative error of p, independent from key to key. Then the error of o = sum
// p v is sum p e (v - o). Relative to o it is e, whatever the number of keys, since both are sums with the weights p.
// These errors are weighted by p^2 ~ exp(2 s); with this weight, s has a mean of 2 and s^2 a mean of 5. The largest
// score is z. The contributions to e follow, in unit round-offs u of the type in which products are stored; each
// rounding is uniform within u:
//   16 bit  A score's only error comes from its float32 sum. Implementations of single operations store it twice, with
//           an error of u s each, and p and the result once. Gradients of scores also store dP, its difference from the
//           row sum, and their product with the scale.
//   tf32    Each product's inputs are rounded or truncated to 11 bits (see gemm/verify.cpp): a score is off by 0.64 u,
//           and smaller by 1.5 u of itself. The results of other products have the same errors.
//   fp32    A score's sum rounds d partial sums, which grow to s; the variance of this error is u^2 d / 3 (s^2 / 3 + 1
//           / 6). exp() has the rounding of its argument and two of its own. Further variances, in u^2: n / 9 for a
//           row's sum, n / 6 for the sum over n keys or queries, d / 6 for the sum of dP.
// The tolerance of a whole tensor's norm uses the mean of s^2. The tolerances of elements and rows use the largest
// score and are relative to the row's rms. In a row of few elements, the rms may be small by chance; Student's
// distribution bounds this. In 16 bits, the resulting constants are sqrt(12 / 3) = 2.0 for o and sqrt(17 / 3) = 2.4 for
// dq. The least exact implementations reach them: 2.0 and 2.3 (CPU), 1.6 and 2.1 (H200). In float32 on an H200, naive
// reaches three quarters of the constants. sdpa_efficient, which makes one product from three TF32 products, reaches up
// to 1.4 times the constants, for few keys and dimensions, and the sums of compiled reach up to 1.2 times; the
// tolerances are therefore multiplied by kOtherProducts.
//
// Under a causal mask, the size of row i is proportional to 1 / sqrt(i), so the norm has the fluctuation of ln(n)^2 /
// (pi^2 / 6) rows instead of n.
constexpr double kMeanSquareScore = 5.0;
constexpr double kTf32Scatter = 0.64, kTf32Shrinkage = 1.5;
constexpr double kOtherProducts = 2.0;  // factor of all float32 tolerances
// o, lse, dq, dk and dv share the budget equally; half of each share is for elements, half for norms and rows.
constexpr double kResults = 5.0;
constexpr double kBudget = kVerificationBudget / kResults / 2.0;
// The smallest number of keys from which the errors p e of a row come. Each key's error affects every element of the
// row.
constexpr double kKeysOfARow = 4.0;
// dP - rowsum(grad_o o) is zero for a query that sees one key. With n keys, its variance is 1 - 1 / n of the variance
// of dP, so the relative error from rounding dP grows for few keys: for two keys, its square doubles.
constexpr double kFewKeys = 2.0;
// The additional error of lse for 16-bit inputs: an exp() may have a quarter of float16's roundoff.
constexpr double kShortExp = 0x1p-13;
constexpr double kLogRoundings = 8.0;  // roundings of lse itself: exp, log, and a change of their base
constexpr double kFloatUnit = unit_roundoff(Precision::kFp32);

struct Extents {
  double pairs, seq_q, seq_kv, head_dim;  // seq_q counts the queries of all heads that share a pair's head of k and v
  bool causal;
};

/// Mean squares of relative errors, in units of u^2.
struct ErrorSquares {
  double value;     // mean square for o and dv
  double gradient;  // mean square for dq and dk
};

/// Returns the mean squares of the errors that the comment above derives.
/// @param score_square  square of a score, the mean or the largest one
/// @param terms         number of terms of the sum that is the result
ErrorSquares error_squares(Precision precision, const Extents& extents, double score_square, double terms) {
  constexpr double kRounding = kRoundingRms * kRoundingRms;
  if (precision == Precision::kTf32) {
    const double product = kTf32Scatter * kTf32Scatter + kTf32Shrinkage * kTf32Shrinkage;
    const double score = kTf32Scatter * kTf32Scatter + kTf32Shrinkage * kTf32Shrinkage * score_square;
    return {.value = score + product, .gradient = score + 2.0 * product};
  }
  if (precision == Precision::kFp32) {
    const double score = extents.head_dim * kRounding * (score_square / 3.0 + 1.0 / 6.0);
    const double exponential = kRounding * (score_square + 2.0);
    const double value = score + exponential + extents.seq_kv / 9.0 + terms / 6.0;
    return {.value = value, .gradient = value + extents.head_dim / 6.0};
  }
  return {.value = kRounding * (2.0 * score_square + 2.0), .gradient = kRounding * (2.0 * score_square + 7.0)};
}

/// Returns the tolerance of a result with `rows` rows per pair, each of whose elements is a sum of `terms` terms.
Tolerance result_tolerance(Precision precision, const Extents& extents, double rows, double terms,
                           double ErrorSquares::*of) {
  const double unit = unit_roundoff(precision) * (precision == Precision::kFp32 ? kOtherProducts : 1.0);
  const double count = extents.pairs * rows * extents.head_dim;
  const double z = sum_bound(count, kBudget);
  const double largest_score = sum_bound(extents.pairs * extents.seq_q * extents.seq_kv, kBudget);
  const double mean = unit * std::sqrt(error_squares(precision, extents, kMeanSquareScore, terms).*of);
  const double largest = unit * std::sqrt(error_squares(precision, extents, largest_score * largest_score, terms).*of);
  const double logarithm = std::log(std::max(rows, std::numbers::e));
  const double rows_of_norm =
      extents.pairs *
      (extents.causal ? std::max(1.0, logarithm * logarithm * 6.0 / std::pow(std::numbers::pi, 2)) : rows);
  const double shortfall = norm_shortfall(rows_of_norm * extents.head_dim, kBudget / 2.0);
  const double small_row = student_bound(z, extents.head_dim);
  Tolerance tolerance{.relative = 0.0, .of_rms = largest * small_row, .absolute = 0.0};
  tolerance.of_row_norm =
      largest * small_row / z * norm_fluctuation(kKeysOfARow, kBudget / 2.0 / (extents.pairs * rows));
  if (shortfall > 0.0) tolerance.of_norm = mean * norm_fluctuation(rows_of_norm, kBudget / 2.0) / shortfall;
  return tolerance;
}

/// Returns the tolerance of dq or dk: adds the error of the difference of two similar numbers to `result`.
Tolerance score_gradient_tolerance(Tolerance result, const Extents& extents, double absolute) {
  result.absolute = absolute;
  result.of_norm *= 1.0 + kFewKeys / extents.seq_kv;
  result.of_row_norm *= 1.0 + kFewKeys / extents.seq_kv;
  if (extents.seq_kv == 1.0) result.of_norm = result.of_row_norm = std::numeric_limits<double>::infinity();
  return result;
}

/// Returns the bound on the error of rowsum(grad_o o), or of the dP that it is subtracted from, relative to ||grad_o
/// o||, times an element of p k or q relative to its rms. These are two normal values, whose product exceeds t with a
/// probability of exp(-t). In 16 bits, o is stored, and implementations of single operations also store dP and p dP. In
/// float32, rowsum and dP are sums of d terms; in TF32, dP is a TF32 product.
double rowsum_error(Precision precision, const Extents& extents) {
  const double count = extents.pairs * std::max(extents.seq_q, extents.seq_kv) * extents.head_dim;
  const double z = sum_bound(count, kBudget);
  const double in_float =
      2.0 * std::numbers::sqrt2 * kFloatUnit * walk_bound(count, kBudget) * walk_roundoffs(extents.head_dim);
  if (precision == Precision::kFp32) return in_float;
  const double unit = unit_roundoff(precision);
  if (precision == Precision::kTf32) return in_float + 2.0 * unit * z * (kTf32Scatter + kTf32Shrinkage);
  return in_float + unit * std::sqrt(3.0) * kRoundingRms * z * z / 2.0;
}

/// Returns the tolerance of lse, which has the error of a row's largest scores; its sum over n keys adds a variance of
/// n / 9.
Tolerance lse_tolerance(Precision precision, const Extents& extents) {
  const double count = extents.pairs * extents.seq_q;
  const double z = sum_bound(count, kBudget);
  const double in_float = kFloatUnit * (walk_bound(count, kBudget) * walk_roundoffs(extents.head_dim) +
                                        z * std::sqrt(extents.seq_kv) / 3.0);
  double absolute = in_float;
  if (precision == Precision::kTf32) {
    absolute += unit_roundoff(precision) *
                (z * kTf32Scatter * product_spread(extents.head_dim, count, kBudget) + kTf32Shrinkage * z);
  } else if (precision != Precision::kFp32) {
    absolute += kShortExp;
  }
  return {.relative = kLogRoundings * kFloatUnit, .of_rms = 0.0, .absolute = absolute};
}

}  // namespace

AttentionTolerances attention_tolerances(Precision precision, const AttentionShape& shape, std::int64_t pairs) {
  const Extents extents{.pairs = static_cast<double>(pairs),
                        .seq_q = static_cast<double>(shape.seq_q * shape.group()),
                        .seq_kv = static_cast<double>(shape.seq_kv),
                        .head_dim = static_cast<double>(shape.head_dim),
                        .causal = shape.causal};
  const double of_rowsum = rowsum_error(precision, extents);
  const auto result = [&](double rows, double terms, double ErrorSquares::*of) {
    return result_tolerance(precision, extents, rows, terms, of);
  };
  // A key's gradient is a sum over queries; each query contributes p times the error of its rowsum.
  const double queries = std::sqrt(extents.causal ? static_cast<double>(shape.group()) : extents.seq_q);
  const double of_keys = of_rowsum * std::sqrt(std::numbers::e) * queries / extents.seq_kv;
  return {
      .o = result(extents.seq_q, extents.seq_kv, &ErrorSquares::value),
      .dv = result(extents.seq_kv, extents.seq_q, &ErrorSquares::value),
      .lse = lse_tolerance(precision, extents),
      .dq = score_gradient_tolerance(result(extents.seq_q, extents.seq_kv, &ErrorSquares::gradient), extents, 0.0),
      .dk = score_gradient_tolerance(result(extents.seq_kv, extents.seq_q, &ErrorSquares::gradient), extents, of_keys),
      .dq_of_rowsum = of_rowsum};
}

}  // namespace tbench::model

#include "model/attention/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/torch/rounding.hpp"

namespace tbench::model {
namespace {

// Errors of attention. With normal inputs scores s are normal, too. An error of a score moves p by that much of itself,
// as a rounding of p does: let e be the relative error of p, independent from key to key. Then o = sum p v is off by
// sum p e (v - o), which relative to o is e, whatever the number of keys: both are sums with the weights p. Weighted by
// p^2 ~ exp(2 s), as these errors are, scores have a mean of 2, and s^2 has a mean of 5; the largest is z. What makes
// e, in unit round-offs u of the type that products are stored in, each rounding uniform within u at most:
//   16 bit  A score is exact but for its sum. Where operations are single it is stored twice, u s each; p and the
//           result are stored once. The gradients of scores have dP, its difference, and their product with the scale
//           besides.
//   tf32    Each product's inputs are rounded to 11 bits or cut off (see gemm/verify.cpp): a score is off by 0.64 u,
//           and smaller by 1.5 u of itself; so are the results of the other products.
//   fp32    A score's sum rounds d partial sums, which grow to s: u^2 d / 3 (s^2 / 3 + 1 / 6) is the variance. exp()
//           has the rounding of its argument and two of its own; a row's sum n / 9; the sum over n keys, or queries,
//           n / 6; the sum of dP d / 6.
// The norm of all takes the means, an element or a row the largest score, and is relative to the rms of its row, of few
// elements of which Student's distribution says how small it is by chance. The constants that follow from this, sqrt(12
// / 3) = 2.0 for o and sqrt(17 / 3) = 2.4 for dq in 16 bits, are what the least exact implementations show: 2.0 and 2.3
// (CPU), 1.6 and 2.1 (H200). In float32 naive shows three quarters of it on an H200. An implementation that makes a
// product of three TF32 ones (sdpa_efficient) shows up to 1.4, where few keys and dimensions leave little else, and
// compiled sums up to 1.2: kOtherProducts of it are allowed.
//
// Under a causal mask row i is about 1 / sqrt(i) as large: ln(n)^2 / (pi^2 / 6) rows make the norm, not n.
constexpr double kMeanSquareScore = 5.0;
constexpr double kTf32Scatter = 0.64, kTf32Shrinkage = 1.5;
constexpr double kOtherProducts = 2.0;  // of float32
// o, lse, dq, dk and dv share the budget, each half for elements, half for norms and rows.
constexpr double kResults = 5.0;
constexpr double kBudget = kVerificationBudget / kResults / 2.0;
// The errors p e of a row come from at least so many keys, each of which shows in every element.
constexpr double kKeysOfARow = 4.0;
// dP - rowsum(grad_o o) is zero for a query that sees one key, and of n keys' p and dP, has 1 - 1 / n of the variance
// of dP. With two the rounding of dP shows twice as much, and so on.
constexpr double kFewKeys = 2.0;
// The error of lse of 16-bit inputs: the error of float32 sums, with an exp() that need not be better than a quarter of
// what float16 shows.
constexpr double kShortExp = 0x1p-13;
constexpr double kLogRoundings = 8.0;  // of lse itself: exp, log, and a change of their base
constexpr double kFloatUnit = unit_roundoff(Precision::kFp32);

struct Extents {
  double pairs, seq_q, seq_kv, head_dim;
  bool causal;
};

/// Mean squares of relative errors, in u^2.
struct ErrorSquares {
  double value;     // o and dv
  double gradient;  // dq and dk
};

/// @param score_square  of which scores: mean or largest
/// @param terms         of the sum that makes the result
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

/// The tolerance of a result that has `rows` rows per pair, each element a sum of `terms` terms.
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

/// dq and dk: what the difference of two numbers near each other adds.
Tolerance score_gradient_tolerance(Tolerance result, const Extents& extents, double absolute) {
  result.absolute = absolute;
  result.of_norm *= 1.0 + kFewKeys / extents.seq_kv;
  result.of_row_norm *= 1.0 + kFewKeys / extents.seq_kv;
  if (extents.seq_kv == 1.0) result.of_norm = result.of_row_norm = std::numeric_limits<double>::infinity();
  return result;
}

/// The error of rowsum(grad_o o), or of the dP next to it, relative to ||grad_o o||, times an element of p k or q
/// relative to its rms; two normal values, whose product exceeds t with exp(-t). In 16 bits o is stored, and single
/// operations also store dP and p dP. In float32 rowsum and dP are sums of d terms, in TF32 one of them is a product.
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

/// The tolerance of lse, which follows the largest scores of a row and is off by as much as they are; its sum has n /
/// 9.
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
                        .seq_q = static_cast<double>(shape.seq_q),
                        .seq_kv = static_cast<double>(shape.seq_kv),
                        .head_dim = static_cast<double>(shape.head_dim),
                        .causal = shape.causal};
  const double of_rowsum = rowsum_error(precision, extents);
  const auto result = [&](double rows, double terms, double ErrorSquares::*of) {
    return result_tolerance(precision, extents, rows, terms, of);
  };
  // A key's gradient adds up the errors of its queries, each of which is p times the error of a rowsum.
  const double queries = extents.causal ? 1.0 : std::sqrt(extents.seq_q);
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

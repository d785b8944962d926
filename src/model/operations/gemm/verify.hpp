// The check of a matrix product against float64, and its tolerances.
#pragma once

#include <cstdint>
#include <string>

#include "model/operations/gemm/implementation.hpp"
#include "model/torch/compare.hpp"
#include "tbench/core/record.hpp"

namespace tbench::model {

struct GemmVerdict {
  Verification verification;
  double relative_error{};  // ||y - reference|| / ||reference||, Frobenius, over all elements compared
};

/// Fills the operands in place with the values of `seed`, launches the product into a y of NaN and compares. A
/// workspace, or a copy that the product made, may still hold the earlier operands; the result must not depend on them.
/// Also fails if the product changed an operand. Leaves the operands filled by `seed`. Synchronises.
[[nodiscard]] GemmVerdict verify_gemm_product(GemmOperands& operands, GemmProduct& product, std::uint64_t seed);

/// Compares y with the product of the same x and w in float64; fp8 operands are multiplied by their scales. Compares
/// all of y if that is cheap on the device. Otherwise compares complete rows and columns, evenly spaced from a first
/// one that the seed determines; and, for every row, the sum of its elements with random signs, computed as x (w^T r).
/// The signed sum reveals any element that is off by about the rms of y. Synchronises.
/// @see  Freivalds, Probabilistic machines can use less running time (1977): the product with r
[[nodiscard]] GemmVerdict verify_gemm(const GemmOperands& operands);

/// Add some rows of a y, or the signed sums of all rows, to a comparison with float64 of the present x and w, as
/// verify_gemm() compares them.
/// @param rows    indices of the rows, [n]
/// @param y       values of these rows, [n, columns of y]
/// @param signs   random signs, [columns of y], float64
/// @param sums    signed sums, [rows of y], float64
void add_gemm_rows(const GemmOperands& operands, std::string name, const at::Tensor& rows, const at::Tensor& y,
                   Comparison& comparison);
void add_gemm_sums(const GemmOperands& operands, std::string name, const at::Tensor& signs, const at::Tensor& sums,
                   Comparison& comparison);

/// The rows or columns begin, begin + step, ... of an extent: at least one line.
struct CheckedLines {
  std::int64_t begin{};
  std::int64_t step{1};
};

struct CheckedPart {
  bool whole{};
  CheckedLines rows, columns;  // lines of y to check, unless `whole`
};
[[nodiscard]] CheckedPart checked_part(const GemmConfig& config);

struct GemmTolerances {
  Tolerance element;
  Tolerance signed_sum;  // tolerance of a row's sum with random signs
};

/// Returns how far rounding may move y. A correct implementation exceeds one of a case's tolerances with a probability
/// of at most 1 in 1,000, for both verifications together: verify.cpp has the derivation.
/// @param k              terms of a sum
/// @param rows, columns  extents of the part that is compared at once
[[nodiscard]] GemmTolerances gemm_tolerances(GemmPrecision precision, std::int64_t k, std::int64_t rows,
                                             std::int64_t columns);

}  // namespace tbench::model

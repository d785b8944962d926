// The check of a matrix product against float64, and how far apart the two may be.
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

/// Fills the operands with the values of `seed` in place, launches the product into a y of NaN and compares. What the
/// operands were before may still lie in a workspace, or in a copy that the product made: it must not show. Fails, too,
/// if the product changed an operand. Leaves the operands filled by `seed`. Synchronises.
[[nodiscard]] GemmVerdict verify_gemm_product(GemmOperands& operands, GemmProduct& product, std::uint64_t seed);

/// Compares y with the product in float64 of the same x and w (of fp8 times their scales): all of it where that is
/// cheap on the device. Else complete rows and columns, evenly spaced, the first of each by the seed; and of every row
/// the sum of its elements with random signs, as x (w^T r), which sees any element that is off by about the rms of y.
/// Synchronises.
/// @see  Freivalds, Probabilistic machines can use less running time (1977): the product with r
[[nodiscard]] GemmVerdict verify_gemm(const GemmOperands& operands);

/// Adds some rows of a y to a comparison with float64 of x and w as they are now, or the sums of all rows' elements
/// with signs, as verify_gemm() compares them.
/// @param rows    [n]
/// @param y       [n, columns of y]
/// @param signs   [columns of y], float64
/// @param sums    [rows of y], float64
void add_gemm_rows(const GemmOperands& operands, std::string name, const at::Tensor& rows, const at::Tensor& y,
                   Comparison& comparison);
void add_gemm_sums(const GemmOperands& operands, std::string name, const at::Tensor& signs, const at::Tensor& sums,
                   Comparison& comparison);

/// begin, begin + step, ... of an extent: at least one.
struct CheckedLines {
  std::int64_t begin{};
  std::int64_t step{1};
};

struct CheckedPart {
  bool whole{};
  CheckedLines rows, columns;  // of y, where it is not checked as a whole
};
[[nodiscard]] CheckedPart checked_part(const GemmConfig& config);

struct GemmTolerances {
  Tolerance element;
  Tolerance signed_sum;  // of a row's elements with random signs
};

/// How far rounding may move y. A right implementation exceeds one of a case's tolerances with a probability of at most
/// 1 in 1,000, both verifications counted: see verify.cpp for the derivation.
/// @param k              terms of a sum
/// @param rows, columns  of what is compared at once
[[nodiscard]] GemmTolerances gemm_tolerances(GemmPrecision precision, std::int64_t k, std::int64_t rows,
                                             std::int64_t columns);

}  // namespace tbench::model

// The check of a matrix product against float64, and how far apart the two may be.
#pragma once

#include <cstdint>

#include "model/operations/gemm/implementation.hpp"
#include "model/torch/compare.hpp"
#include "tbench/core/record.hpp"

namespace tbench::model {

struct GemmVerdict {
  Verification verification;
  double relative_error{};  // ||y - reference|| / ||reference||, Frobenius, over all elements compared
};

/// Compares y with the product in float64 of the same x and w (of fp8 times their scales): all of it where that is
/// cheap on the device, else complete rows and columns, evenly spaced, the first of each by the seed, so that every
/// tile's rows and columns of y are crossed; all other elements have to be finite. Synchronises.
[[nodiscard]] GemmVerdict verify_gemm(const GemmOperands& operands);

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

/// How far rounding may move y: see verify.cpp for the derivation.
/// @param k  terms of a sum
[[nodiscard]] Tolerance gemm_tolerance(GemmPrecision precision, std::int64_t k);

}  // namespace tbench::model

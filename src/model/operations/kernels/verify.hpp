// The check of one of the models' operations against float64, and the functions that turn the operations' roundings
// into tolerances.
#pragma once

#include <cstdint>
#include <limits>

#include "model/operations/kernels/implementation.hpp"
#include "model/torch/output_checker.hpp"
#include "model/torch/rounding.hpp"

namespace tbench::model {

/// Overwrites every input and gradient in place with the values of another seed, and runs the `prepare` of `impl`
/// again.
void fill_kernel_operands(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl, std::uint64_t seed);

/// Runs the timed pass on the present operands.
[[nodiscard]] std::vector<at::Tensor> run_kernel(const KernelOperands& operands, const KernelImpl& impl);

/// Compares the results of a pass on the present operands with float64. Synchronises.
[[nodiscard]] Verification compare_kernel(const KernelOperands& operands, const KernelOp& op,
                                          const std::vector<at::Tensor>& results);

/// Add some rows of the results of a launch, or the signed sums of all rows, to a comparison with float64 of the
/// present operands. Both compute all results in float64.
void add_kernel_rows(const KernelOperands& operands, const KernelOp& op, const HiddenRows& hidden,
                     Comparison& comparison);
void add_kernel_sums(const KernelOperands& operands, const KernelOp& op, const RowDigests& sums,
                     Comparison& comparison);

/// Runs the operation twice and compares the second run's results with float64. The first run's results are overwritten
/// with NaN unless the operation is in place. Also fails if the operation changed an input that is not a result. Fills
/// the operands by `seed` between the two runs, unless they have these values already, so that leftovers of the first
/// run in memory cannot help the second. Synchronises.
[[nodiscard]] Verification verify_kernel(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl,
                                         std::uint64_t seed);

/// Error probability of the elements of a result; the norms have the other half of a verification's budget.
inline constexpr double kKernelBudget = kVerificationBudget / 2;

/// Returns the number of standard deviations that no rounding error or normal value exceeds among `count` elements.
[[nodiscard]] double largest_deviation(std::int64_t count);
/// Returns the bound of `count` products of two normal values: a product exceeds t with a probability of at most
/// exp(-t).
[[nodiscard]] double largest_product(std::int64_t count);
/// Returns the relative error, in round-offs, of `count` sums of positive terms that are added one after the other. The
/// partial sums grow like j / terms, so that the variance of their roundings is terms / 9.
[[nodiscard]] double positive_sum_roundoffs(std::int64_t terms, std::int64_t count);

/// Allowed errors of results that are computed in float32 and rounded to the storage type. Computing is counted in unit
/// round-offs of float32, storing in unit round-offs of the storage type; the latter apply only if that type is not
/// float32.
struct KernelRoundings {
  double relative{};         // float32 round-offs of the element
  double of_rms{};           // float32 round-offs of the row's rms
  double stored{1};          // storage round-offs of the element
  double stored_of_rms{};    // storage round-offs of the row's rms
  double min_subnormals{1};  // halves of fp16's smallest number: the cost of storing a subnormal, in every result
  double norm{};             // float32 round-offs of the norm, on average
  double stored_norm{};      // storage round-offs of the norm, on average
  double degrees{};          // independent errors in the norm; 0: the norm has no tolerance
};
[[nodiscard]] Tolerance kernel_tolerance(Precision precision, const KernelRoundings& roundings);

}  // namespace tbench::model

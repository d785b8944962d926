// The check of one of the models' operations against float64, and the tolerances that the operations' files make of
// their roundings.
#pragma once

#include <cstdint>
#include <limits>

#include "model/operations/kernels/implementation.hpp"
#include "model/torch/output_checker.hpp"
#include "model/torch/rounding.hpp"

namespace tbench::model {

/// Gives every input and gradient the values of another seed in place, and makes what `impl` prepares of them anew.
void fill_kernel_operands(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl, std::uint64_t seed);

/// Runs the pass that is timed, on the operands as they are.
[[nodiscard]] std::vector<at::Tensor> run_kernel(const KernelOperands& operands, const KernelImpl& impl);

/// Compares what a pass has computed of the operands as they are now. Synchronises.
[[nodiscard]] Verification compare_kernel(const KernelOperands& operands, const KernelOp& op,
                                          const std::vector<at::Tensor>& results);

/// Adds some rows of the results of a launch, or the signed sums of all rows, to a comparison with float64 of the
/// operands as they are now. Both compute all results in float64.
void add_kernel_rows(const KernelOperands& operands, const KernelOp& op, const HiddenRows& hidden,
                     Comparison& comparison);
void add_kernel_sums(const KernelOperands& operands, const KernelOp& op, const RowDigests& sums,
                     Comparison& comparison);

/// Runs it twice, the results of the first overwritten with NaN unless they are its inputs, and compares the second's
/// with float64. Fails, too, if the operation changed an input that is no result. Fills the operands by `seed` between
/// the two runs, unless they are: what the first left in memory does not help the second. Synchronises.
[[nodiscard]] Verification verify_kernel(KernelOperands& operands, const KernelOp& op, const KernelImpl& impl,
                                         std::uint64_t seed);

/// Half of a verification's for elements, half for norms.
inline constexpr double kKernelBudget = kVerificationBudget / 2;

/// Returns how many standard deviations a rounding error, or a normal value, does not exceed among `count` elements.
[[nodiscard]] double largest_deviation(std::int64_t count);
/// Returns the bound of `count` products of two normal values: a product exceeds t with a probability of exp(-t) at
/// most.
[[nodiscard]] double largest_product(std::int64_t count);
/// Relative error, in round-offs, of `count` sums of positive terms that are added one after the other: the partial
/// sums grow like j / terms, so that the variance of their roundings is terms / 9.
[[nodiscard]] double positive_sum_roundoffs(std::int64_t terms, std::int64_t count);

/// Allowed errors of results that are computed in float32 and rounded to the storage type, in unit round-offs of
/// float32 for what float32 does, of the storage type for what storing does; the latter count where that is not
/// float32.
struct KernelRoundings {
  double relative{};         // float32 round-offs of the element
  double of_rms{};           // float32 round-offs of the row's rms
  double stored{1};          // storage round-offs of the element
  double stored_of_rms{};    // storage round-offs of the row's rms
  double min_subnormals{1};  // halves of fp16's smallest number: what storing a smaller one costs, in every result
  double norm{};             // float32 round-offs of the norm, on average
  double stored_norm{};      // storage round-offs of the norm, on average
  double degrees{};          // independent errors in the norm; 0: the norm has no tolerance
};
[[nodiscard]] Tolerance kernel_tolerance(Precision precision, const KernelRoundings& roundings);

}  // namespace tbench::model

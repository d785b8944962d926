// Implementations of the models' operations with one fault per implementation, of kinds that occur in kernels. The
// verification of an operation must find them. Most compute as `aten` does and then change something.
#pragma once

#include <ATen/ops/zeros_like.h>

#include <limits>
#include <string>
#include <vector>

#include "model/operations/kernels/implementation.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model::planted_kernels {

struct Fault {
  std::string op;
  KernelPass pass;
  std::string name;
  std::vector<at::Tensor> (*run)(const KernelOperands& operands);
  std::vector<Precision> precisions{Precision::kFp32, Precision::kBf16};
};

[[nodiscard]] std::vector<Fault> all_faults();

/// Returns the tensors that faulty implementations keep from one launch to the next. Clear them before each fault.
[[nodiscard]] std::vector<at::Tensor>& remembered();

/// Returns the results of `aten` for the operation.
[[nodiscard]] std::vector<at::Tensor> right(const KernelOperands& operands);

// Parts of faults.

using Results = std::vector<at::Tensor>;
using Operands = const KernelOperands&;

inline constexpr auto kForward = KernelPass::kForward, kBackward = KernelPass::kBackward;
inline const std::vector<Precision> kSingle{Precision::kFp32};
inline const std::vector<Precision> kShort{Precision::kBf16};

inline at::ScalarType type_of(Operands o) { return compute_dtype(o.config.precision, at::kFloat); }
inline Results stored(Operands o, const at::Tensor& result) { return {result.to(type_of(o))}; }
inline at::Tensor in(Operands o, std::size_t i) { return o.inputs[i].detach().to(at::kDouble); }
inline at::Tensor gradient(Operands o) { return o.gradients[0].to(at::kDouble); }

/// Returns the correct results, one of which is changed by `change`.
template <class Change>
Results changed(Operands o, std::size_t result, const Change& change) {
  Results results = right(o);
  results.at(result) = results.at(result).clone();
  change(results.at(result));
  return results;
}

/// Returns the correct results, except for a part that keeps the values of the previous launch.
template <class Part>
Results stale(Operands o, const Part& part) {
  Results results = right(o);
  const at::Tensor now = results[0].clone();
  if (!remembered().empty()) part(results[0]).copy_(part(remembered()[0]));
  remembered() = {now};
  return results;
}

/// Returns the correct results, except for a part that keeps the memory's old contents: NaN in a case's second launch.
template <class Part>
Results unwritten(Operands o, const Part& part) {
  Results results = right(o);
  part(results[0]).fill_(remembered().empty() ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  remembered() = {results[0]};
  return results;
}

/// Adds the results to the previous launches' results, as in a buffer that is not cleared.
inline Results added_up(Operands o, std::size_t result) {
  Results results = right(o);
  if (remembered().empty()) remembered() = {at::zeros_like(results.at(result))};
  remembered()[0].add_(results.at(result));
  results.at(result) = remembered()[0].clone();
  return results;
}

/// Returns the faults of rmsnorm, softmax and cross_entropy (planted_row_faults.cpp).
[[nodiscard]] std::vector<Fault> row_faults();
/// Returns the faults of operations that only a fused step combines (planted_step_faults.cpp).
[[nodiscard]] std::vector<Fault> fused_step_faults();
/// Returns the faults of linear_cross_entropy (planted_head_faults.cpp).
[[nodiscard]] std::vector<Fault> head_faults();

}  // namespace tbench::model::planted_kernels

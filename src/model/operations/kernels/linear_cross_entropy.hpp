// The parts of the operation linear_cross_entropy: its expected results, and the tensors of the chunked head.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/fused/chunked_head.hpp"
#include "model/operations/kernels/implementation.hpp"

namespace tbench::model {

/// Computes the expected results in float64 from the operation's inputs, in tiles of 1,024 rows of logits. Holds five
/// matrices of the weight's shape and some six tiles: 29 GB for 128,256 words of a d_model of 4,096.
[[nodiscard]] std::vector<KernelResult> linear_cross_entropy_expect(const KernelOperands& operands);

/// The tensors that the chunked head writes.
struct HeadResults {
  at::Tensor losses, dx, dweight;
  at::Tensor logits;  // of one chunk
};

/// Allocates the results for the operation's inputs.
[[nodiscard]] HeadResults make_head_results(const KernelOperands& operands, const HeadShape& shape);
/// Returns the pointers to the operation's inputs and to `results`, for the gradients of the losses' sum.
[[nodiscard]] HeadOperands head_operands(const KernelOperands& operands, HeadResults& results);

}  // namespace tbench::model

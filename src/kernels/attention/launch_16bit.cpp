// The two 16-bit precisions behind one set of functions.
#include "launch_16bit.hpp"

#include "plan_16bit.hpp"

namespace tbench::kernels {

void forward_16bit(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  (problem.precision == Precision::kBf16 ? &forward_bf16 : &forward_fp16)(problem, arguments, stream);
}

void backward_16bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  (problem.precision == Precision::kBf16 ? &backward_bf16 : &backward_fp16)(problem, arguments, stream);
}

std::size_t forward_16bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const KeyParts parts = forward_key_parts(problem.shape, limits);
  return parts.count > 1 ? forward_workspace(problem.shape, parts).bytes() : 0;
}

std::size_t backward_16bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return backward_workspace(problem, limits).bytes();
}

}  // namespace tbench::kernels

// The two precisions of float32 storage: one translation unit each for the forward and the backward pass, so that they
// compile side by side.
#pragma once

#include "launch.hpp"

namespace tbench::kernels {

void forward_tf32(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void forward_fp32(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void backward_tf32(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);
void backward_fp32(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels

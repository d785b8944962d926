// The two 16-bit precisions: one translation unit each for the forward and the backward pass, so that they compile
// side by side.
#pragma once

#include "launch.hpp"

namespace tbench::kernels {

void forward_bf16(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void forward_fp16(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void backward_bf16(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);
void backward_fp16(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels

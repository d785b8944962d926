// The sm80 launches behind the public functions, one instance per precision: sm80/fwd/launch.cu and sm80/bwd/launch.cu,
// compiled once per precision so that the instances compile in parallel. The caller has checked the arguments and made
// the plan. Each function enqueues its kernels on `stream`, checks the launches, and does not synchronise.
#pragma once

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/common/plan_16bit.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm80 {

/// @param problem  a problem of precision kPrecision
/// @param plan     the plan of `problem` for the current device
/// @throws         cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const FwdPlan& plan, const AttentionForward& arguments,
                    cudaStream_t stream);
template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const BwdPlan& plan, const AttentionBackward& arguments,
                     cudaStream_t stream);

}  // namespace tbench::kernels::sm80

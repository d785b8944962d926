// The launches behind the public functions, an instance for each precision: sm80/fwd/launch.cu and sm80/bwd/launch.cu,
// compiled once for each so that the instances compile side by side. The caller has checked the arguments and made the
// plan; each function enqueues its kernels on `stream`, checks the launches, and does not synchronise.
#pragma once

#include "kernels/attention/common/plan_16bit.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

/// @param problem  of precision kPrecision
/// @param plan     of `problem` on the current device
/// @throws         cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const ForwardPlan& plan, const AttentionForward& arguments,
                    cudaStream_t stream);
template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const BackwardPlan& plan, const AttentionBackward& arguments,
                     cudaStream_t stream);

/// Whether a precision is stored in 16 bits: mma.m16n8k16 with float32 accumulators. The others are stored as float32:
/// mma.m16n8k8, one product of TF32 operands (kTf32), or three for float32's accuracy (kFp32).
constexpr bool is_16bit(Precision precision) { return precision == Precision::kBf16 || precision == Precision::kFp16; }

}  // namespace tbench::kernels

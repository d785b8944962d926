// Launch of the sm90 forward kernel for one precision, Precision::TBENCH_PRECISION. CMakeLists.txt compiles
// this file once per precision.
#include "kernels/attention/sm90/fwd/launch.cuh"

namespace tbench::kernels::sm90 {
namespace {

struct PlainKernels {
  template <class Element, int kHeadDim, class Tile>
  static void launch(const AttentionProblem& /*problem*/, const FwdParams& parameters, const Launch& geometry,
                     cudaStream_t stream, bool overlaps) {
    launch_kernel(&attention_fwd_sm90_kernel<Element, kHeadDim, Tile>, geometry, parameters, stream, overlaps);
  }
};

}  // namespace

template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream) {
  launch_planned<kPrecision, PlainKernels>(problem, arguments, choice, limits, stream);
}

template void launch_forward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionForward&, FwdPlan,
                                                          const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

// Launch of grouped-query attention by the sm90 forward kernel for one precision, Precision::TBENCH_PRECISION.
// CMakeLists.txt compiles this file once per precision.
#include "kernels/attention/sm90/fwd/launch.cuh"

namespace tbench::kernels::sm90 {
namespace {

struct GqaKernels {
  template <class Element, int kHeadDim, class Tile>
  static void launch(const AttentionProblem& problem, const FwdParams& parameters, const Launch& geometry,
                     cudaStream_t stream, bool overlaps) {
    const GqaFwdParams grouped{parameters, make_fast_divmod(static_cast<int>(problem.shape.group()))};
    launch_kernel(&attention_fwd_sm90_gqa_kernel<Element, kHeadDim, Tile>, geometry, grouped, stream, overlaps);
  }
};

}  // namespace

template <Precision kPrecision>
void launch_gqa_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                        const DeviceLimits& limits, cudaStream_t stream) {
  launch_planned<kPrecision, GqaKernels>(problem, arguments, choice, limits, stream);
}

template void launch_gqa_forward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionForward&, FwdPlan,
                                                              const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

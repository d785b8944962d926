// Launches of the sm90 backward kernels for one precision, Precision::TBENCH_PRECISION: selects the instantiations for
// a problem. CMakeLists.txt compiles this file once per precision.
#include "kernels/attention/sm90/bwd/launch.cuh"
#include "kernels/attention/sm90/bwd_hdim256/kernel.cuh"
#include "kernels/attention/sm90/bwd_persistent/kernel.cuh"
#include "kernels/attention/sm90/bwd_split/config.hpp"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"

namespace tbench::kernels::sm90 {
namespace {

PersistentParams staying_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                    const BwdPlan& choice) {
  return backward_parameters(problem, arguments, arguments.dk, arguments.dv, staying_order(problem.shape), choice);
}

PerHeadParams heads_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                               const BwdPlan& choice) {
  return backward_parameters(problem, arguments, arguments.dk, arguments.dv,
                             heads_order(problem.shape, choice.shares, arguments.dq), choice);
}

TileParams one_item_parameters(const AttentionProblem& problem, const AttentionBackward& arguments) {
  return backward_parameters(problem, arguments, key_map(problem, arguments.dk), key_map(problem, arguments.dv),
                             backward_order(problem.shape), BwdPlan{});
}

}  // namespace

template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                     const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  if (choice.sums == DqAccumulation::kNone) {
    return launch_backward_kinds<kPrecision>(problem, arguments, choice.is_alone, limits, stream);
  }
  const auto launch = [&]<int kHeadDim>(auto kernel, const auto& parameters) {
    const Launch geometry = choice.sums == DqAccumulation::kPerHead
                                ? backward_heads_launch(problem.shape, choice.shares, limits)
                                : backward_launch(problem.shape, choice.blocks, limits);
    launch_with_helpers<Element, kHeadDim>(problem, arguments, choice, kernel, geometry, parameters, stream);
  };
  const auto launch_staying = [&]<int kHeadDim, DqAccumulation kSums>() {
    const auto parameters = [&] {
      if constexpr (kSums == DqAccumulation::kPerHead) {
        return heads_parameters(problem, arguments, choice);
      } else {
        return staying_parameters(problem, arguments, choice);
      }
    };
    launch.template operator()<kHeadDim>(&attention_bwd_sm90_persistent_kernel<Element, kHeadDim, kSums>, parameters());
  };
  const bool is_80 = problem.shape.head_dim == 80;
  if (problem.shape.head_dim == 256) {
    return launch.template operator()<256>(&attention_bwd_sm90_hdim256_kernel<Element, 256>,
                                           one_item_parameters(problem, arguments));
  }
  if (choice.blocks == BwdSchedule::kOneTilePerCta) {
    return launch.template operator()<128>(&attention_bwd_sm90_tile_kernel<Element, 128>,
                                           one_item_parameters(problem, arguments));
  }
  if (choice.sums == DqAccumulation::kPerHead) {
    return is_80 ? launch_staying.template operator()<80, DqAccumulation::kPerHead>()
                 : launch_staying.template operator()<64, DqAccumulation::kPerHead>();
  }
  if (choice.sums == DqAccumulation::kAtomic) {
    return is_80 ? launch_staying.template operator()<80, DqAccumulation::kAtomic>()
                 : launch_staying.template operator()<64, DqAccumulation::kAtomic>();
  }
  if (problem.shape.head_dim == 128) return launch_staying.template operator()<128, DqAccumulation::kPerKvTile>();
  return is_80 ? launch_staying.template operator()<80, DqAccumulation::kPerKvTile>()
               : launch_staying.template operator()<64, DqAccumulation::kPerKvTile>();
}

template void launch_backward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionBackward&, BwdPlan,
                                                           const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

// Launches of the forward kernels of one precision, Precision::TBENCH_PRECISION. CMakeLists.txt compiles this file once
// per precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm80/fwd/config.hpp"
#include "kernels/attention/sm80/fwd/kernel_16bit.cuh"
#include "kernels/attention/sm80/fwd/kernel_fp32.cuh"
#include "kernels/attention/sm80/fwd/split_kv_combine.cuh"

namespace tbench::kernels::sm80 {

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kCombineThreads)
    attention_fwd_sm80_splitkv_combine_kernel(const __grid_constant__ FwdParams<Element> parameters) {
  combine_splits<Element, kHeadDim>(parameters);
}

template <bool k3xTf32, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_fwd_sm80_fp32_kernel(const __grid_constant__ FwdParams<float> parameters) {
  extern __shared__ __align__(16) char shared[];
  FwdFp32Mainloop<k3xTf32, kHeadDim, Tile>{parameters, shared}.run();
}

namespace {

template <class Element, int kHeadDim>
void launch_16bit(const AttentionShape& shape, const FwdPlan& plan, const FwdParams<Element>& parameters,
                  cudaStream_t stream) {
  const auto launch = [&]<class Tile>() {
    launch_kernel(&attention_fwd_sm80_16bit_kernel<Element, kHeadDim, Tile>,
                  forward_launch(shape, Tile::tile(kHeadDim), plan.split_kv.num_splits), parameters, stream);
  };
  if (plan.tiles == FwdConfigId::kM128N64) return launch.template operator()<FwdM128N64>();
  if constexpr (kHeadDim <= 128) {
    switch (plan.tiles) {
      case FwdConfigId::kWarpSplitM64:
        return launch.template operator()<FwdWarpSplit<64>>();
      case FwdConfigId::kWarpSplitM32:
        return launch.template operator()<FwdWarpSplit<32>>();
      case FwdConfigId::kWarpSplitM16:
        return launch.template operator()<FwdWarpSplit<16>>();
      case FwdConfigId::kSplitKv:
        launch.template operator()<FwdSplitKv>();
        return launch_kernel(&attention_fwd_sm80_splitkv_combine_kernel<Element, kHeadDim>,
                             forward_combine_launch(shape), parameters, stream);
      default:
        break;
    }
  }
  launch.template operator()<FwdM64N64>();
}

template <bool k3xTf32, int kHeadDim>
void launch_32bit(const AttentionShape& shape, const FwdPlan& plan, const FwdParams<float>& parameters,
                  cudaStream_t stream) {
  const auto launch = [&]<class Tile>() {
    launch_kernel(&attention_fwd_sm80_fp32_kernel<k3xTf32, kHeadDim, Tile>,
                  forward_32bit_launch(shape, Tile::tile(kHeadDim)), parameters, stream);
  };
  if constexpr (!k3xTf32) {
    if (plan.tiles == FwdConfigId::kM128N64) return launch.template operator()<FwdFp32Long>();
    if (plan.tiles == FwdConfigId::kWarpSplitM16) {
      return launch.template operator()<FwdFp32WarpSplit<false, 16>>();
    }
  }
  if (plan.tiles == FwdConfigId::kWarpSplitM32) {
    return launch.template operator()<FwdFp32WarpSplit<k3xTf32, 32>>();
  }
  if (plan.tiles == FwdConfigId::kWarpSplitM64) {
    return launch.template operator()<FwdFp32WarpSplit<k3xTf32, 64>>();
  }
  launch.template operator()<FwdFp32Short<k3xTf32>>();
}

}  // namespace

template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const FwdPlan& plan, const AttentionForward& arguments,
                    cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto parameters = forward_parameters<Element>(problem, arguments, plan.split_kv);
  with_head_dim<kPrecision>(problem.shape.head_dim, [&]<int kHeadDim>() {
    if constexpr (is_16bit(kPrecision)) {
      launch_16bit<Element, kHeadDim>(problem.shape, plan, parameters, stream);
    } else {
      launch_32bit<kPrecision == Precision::kFp32, kHeadDim>(problem.shape, plan, parameters, stream);
    }
  });
}

template void launch_forward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const FwdPlan&,
                                                          const AttentionForward&, cudaStream_t);

}  // namespace tbench::kernels::sm80

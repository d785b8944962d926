// The forward kernels of one precision, Precision::TBENCH_PRECISION, and their launches. CMakeLists.txt compiles this
// file once for each precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/common/plan_32bit.hpp"
#include "kernels/attention/instances/launch.hpp"
#include "kernels/attention/sm80/fwd/kernel_16bit.cuh"
#include "kernels/attention/sm80/fwd/kernel_fp32.cuh"
#include "kernels/attention/sm80/fwd/split_kv_combine.cuh"

namespace tbench::kernels {

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kCombineThreads)
    attention_forward_combine_kernel(const __grid_constant__ ForwardParameters<Element> parameters) {
  combine_splits<Element, kHeadDim>(parameters);
}

template <bool k3xTf32, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_forward_32bit_kernel(const __grid_constant__ ForwardParameters<float> parameters) {
  extern __shared__ __align__(16) char shared[];
  Forward32Block<k3xTf32, kHeadDim, Tile>{parameters, shared}.run();
}

namespace {

template <class Element, int kHeadDim>
void launch_16bit(const AttentionShape& shape, const ForwardPlan& plan, const ForwardParameters<Element>& parameters,
                  cudaStream_t stream) {
  const auto launch = [&]<class Tile>() {
    launch_kernel(&attention_forward_mma_kernel<Element, kHeadDim, Tile>,
                  forward_launch(shape, Tile::tile(kHeadDim), plan.split_kv.num_splits), parameters, stream);
  };
  if (plan.tiles == ForwardTiles::kLong) return launch.template operator()<LongForward>();
  if constexpr (kHeadDim <= 128) {
    switch (plan.tiles) {
      case ForwardTiles::kSplitWarps64:
        return launch.template operator()<SplitWarpsForward<64>>();
      case ForwardTiles::kSplitWarps32:
        return launch.template operator()<SplitWarpsForward<32>>();
      case ForwardTiles::kSplitWarps16:
        return launch.template operator()<SplitWarpsForward<16>>();
      case ForwardTiles::kSplitKv:
        launch.template operator()<SplitKvForward>();
        return launch_kernel(&attention_forward_combine_kernel<Element, kHeadDim>, forward_combine_launch(shape),
                             parameters, stream);
      default:
        break;
    }
  }
  launch.template operator()<ShortForward>();
}

template <bool k3xTf32, int kHeadDim>
void launch_32bit(const AttentionShape& shape, const ForwardPlan& plan, const ForwardParameters<float>& parameters,
                  cudaStream_t stream) {
  const auto launch = [&]<class Tile>() {
    launch_kernel(&attention_forward_32bit_kernel<k3xTf32, kHeadDim, Tile>,
                  forward_32bit_launch(shape, Tile::tile(kHeadDim)), parameters, stream);
  };
  if constexpr (!k3xTf32) {
    if (plan.tiles == ForwardTiles::kLong) return launch.template operator()<LongForward32>();
    if (plan.tiles == ForwardTiles::kSplitWarps16) {
      return launch.template operator()<SplitWarpsForward32<false, 16>>();
    }
  }
  if (plan.tiles == ForwardTiles::kSplitWarps32) {
    return launch.template operator()<SplitWarpsForward32<k3xTf32, 32>>();
  }
  if (plan.tiles == ForwardTiles::kSplitWarps64) {
    return launch.template operator()<SplitWarpsForward32<k3xTf32, 64>>();
  }
  launch.template operator()<ShortForward32<k3xTf32>>();
}

}  // namespace

template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const ForwardPlan& plan, const AttentionForward& arguments,
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

template void launch_forward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const ForwardPlan&,
                                                          const AttentionForward&, cudaStream_t);

}  // namespace tbench::kernels

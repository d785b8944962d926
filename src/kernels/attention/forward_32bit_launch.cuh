// Which instantiation of the float32 forward kernel serves a problem, and its launch. Included by one .cu a precision.
#pragma once

#include "forward_32bit.cuh"
#include "head_dim.cuh"

namespace tbench::kernels {

template <bool kExact, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_forward_32bit_kernel(const __grid_constant__ ForwardParameters<float> parameters) {
  extern __shared__ __align__(16) char shared[];
  Forward32Block<kExact, kHeadDim, Tile>{parameters, shared}.run();
}

template <bool kExact>
void launch_forward_32bit(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  const ForwardParameters<float> parameters = forward_parameters<float>(problem, arguments);
  const DeviceLimits limits = current_device_limits();
  with_head_dim<16, 32, 64, 80, 96, 128>(shape.head_dim, [&]<int kHeadDim>() {
    const auto launch = [&]<class Tile>() {
      launch_kernel(&attention_forward_32bit_kernel<kExact, kHeadDim, Tile>,
                    forward_32bit_launch(shape, Tile::tile(kHeadDim)), parameters, stream);
    };
    const int grouped_rows = grouped_forward_32bit_rows(problem, limits);
    if constexpr (!kExact) {
      if (wants_long_forward_32bit_tile(problem, limits)) return launch.template operator()<LongForward32>();
      if (grouped_rows == 16) return launch.template operator()<GroupedForward32<false, 16>>();
    }
    if (grouped_rows == 32) {
      launch.template operator()<GroupedForward32<kExact, 32>>();
    } else if (grouped_rows == 64) {
      launch.template operator()<GroupedForward32<kExact, 64>>();
    } else {
      launch.template operator()<ShortForward32<kExact>>();
    }
  });
}

}  // namespace tbench::kernels

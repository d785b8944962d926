// Which instantiation of the 16-bit forward kernel serves a problem, and its launch. Included by one .cu a precision.
#pragma once

#include "forward_16bit.cuh"
#include "head_dim.cuh"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kCombineThreads)
    attention_forward_combine_kernel(const __grid_constant__ ForwardParameters<Element> parameters) {
  combine_parts<Element, kHeadDim>(parameters);
}

template <class Element>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  const DeviceLimits limits = current_device_limits();
  const KeyParts parts = forward_key_parts(problem.shape, limits);
  const ForwardParameters<Element> parameters = forward_parameters<Element>(problem, arguments, parts);
  const int grouped_rows = grouped_forward_rows(problem.shape, limits);
  const bool is_long = wants_long_forward_tile(problem.shape, limits.multiprocessors);
  with_head_dim<16, 32, 64, 80, 96, 128, 256>(problem.shape.head_dim, [&]<int kHeadDim>() {
    const auto launch = [&]<class Tile>() {
      launch_kernel(&attention_forward_mma_kernel<Element, kHeadDim, Tile>,
                    forward_launch(problem.shape, Tile::tile(kHeadDim), parts.count), parameters, stream);
    };
    if constexpr (kHeadDim <= 128) {
      if (parts.count > 1) {
        launch.template operator()<DividedForward>();
        launch_kernel(&attention_forward_combine_kernel<Element, kHeadDim>, forward_combine_launch(problem.shape),
                      parameters, stream);
        return;
      }
      if (grouped_rows == 16) return launch.template operator()<GroupedForward<16>>();
      if (grouped_rows == 32) return launch.template operator()<GroupedForward<32>>();
      if (grouped_rows == 64) return launch.template operator()<GroupedForward<64>>();
    }
    if (is_long) {
      launch.template operator()<LongForward>();
    } else {
      launch.template operator()<ShortForward>();
    }
  });
}

}  // namespace tbench::kernels

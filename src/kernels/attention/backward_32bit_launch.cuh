// The float32 backward kernels and their launches. Included by one .cu a precision.
#pragma once

#include "backward_32bit.cuh"
#include "head_dim.cuh"

namespace tbench::kernels {

/// Sets delta, and clears dq where the products are going to be added to it.
template <int kHeadDim, bool kClear>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_backward_prepare_32bit_kernel(const __grid_constant__ Backward32Parameters p) {
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const int rows = min(kBackwardHelperRows, p.seq_q - first_row);
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y) * p.seq_q + first_row;
  __shared__ float sums[kBackwardHelperRows];
  row_products<float, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, first_row, p.seq_q, sums);
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < rows) p.delta[first + thread] = sums[thread];
  if constexpr (kClear) {
    float* const head = p.dq.head(blockIdx.z, blockIdx.y) + first_row * p.dq.row_stride;
    const int step = p.dq.vectors ? 4 : 1;
    for (int i = thread * step; i < rows * kHeadDim; i += kBackwardHelperThreads * step) {
      float* const destination = head + i / kHeadDim * p.dq.row_stride + i % kHeadDim;
      if (p.dq.vectors) {
        *reinterpret_cast<float4*>(destination) = float4{};
      } else {
        *destination = 0.0f;
      }
    }
  }
}

template <bool kExact, int kHeadDim>
__global__ void __launch_bounds__(AtomicBackward32<kExact>::tile(kHeadDim).warps* kWarpSize,
                                  AtomicBackward32<kExact>::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_atomic_32bit_kernel(const __grid_constant__ Backward32Parameters p) {
  extern __shared__ __align__(16) char shared[];
  Backward32Block<kExact, kHeadDim, AtomicBackward32<kExact>, false, true>{p, shared, block_place(p.heads_first)}.run();
}

template <bool kExact, int kHeadDim>
__global__ void __launch_bounds__(SplitBackward32<kExact>::tile(kHeadDim).warps* kWarpSize,
                                  SplitBackward32<kExact>::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_split_32bit_kernel(const __grid_constant__ Backward32Parameters p) {
  using Tile = SplitBackward32<kExact>;
  extern __shared__ __align__(16) char shared[];
  BlockPlace place = block_place(p.heads_first);
  const int block = place.tile;
  // Heaviest first: with a causal mask the first keys are seen by the most queries, and the last queries see the most
  // keys. As many of either then, in turn; else the keys' blocks first, whose work is more.
  const bool keeps_keys = p.heads_first ? block % 2 == 0 : block < p.kv_tiles;
  const int blocks = static_cast<int>(gridDim.x);
  if (keeps_keys) {
    place.tile = p.heads_first ? block / 2 : block;
    Backward32Block<kExact, kHeadDim, Tile, false, false>{p, shared, place}.run();
  } else {
    place.tile = p.heads_first ? (blocks - 1 - block) / 2 : blocks - 1 - block;
    Backward32Block<kExact, kHeadDim, Tile, true, false>{p, shared, place}.run();
  }
}

template <bool kExact, int kHeadDim>
void launch_backward_32bit(const AttentionProblem& problem, BackwardMethod method,
                           const Backward32Parameters& parameters, cudaStream_t stream) {
  const bool atomic = method == BackwardMethod::kAtomic;
  if (method != BackwardMethod::kSplitAlone) {
    launch_kernel(atomic ? &attention_backward_prepare_32bit_kernel<kHeadDim, true>
                         : &attention_backward_prepare_32bit_kernel<kHeadDim, false>,
                  backward_helper_launch(problem.shape, 0), parameters, stream);
  }
  const BackwardTile tile = backward_32bit_tile(problem, method);
  launch_kernel(atomic ? &attention_backward_atomic_32bit_kernel<kExact, kHeadDim>
                       : &attention_backward_split_32bit_kernel<kExact, kHeadDim>,
                backward_32bit_launch(problem.shape, tile, method), parameters, stream);
}

template <bool kExact>
void launch_backward_32bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  const DeviceLimits limits = current_device_limits();
  const BackwardMethod method = backward_32bit_method(problem, limits);
  const int kept_rows = backward_32bit_tile(problem, method).kept_rows;
  const Backward32Parameters parameters{
      .q = matrix_of<const float>(arguments.q),
      .k = matrix_of<const float>(arguments.k),
      .v = matrix_of<const float>(arguments.v),
      .o = matrix_of<const float>(arguments.o),
      .grad_o = matrix_of<const float>(arguments.grad_o),
      .lse = arguments.lse,
      .delta = method == BackwardMethod::kSplitAlone ? nullptr : static_cast<float*>(arguments.workspace),
      .dq = matrix_of<float>(arguments.dq),
      .dk = matrix_of<float>(arguments.dk),
      .dv = matrix_of<float>(arguments.dv),
      .heads = static_cast<int>(shape.heads),
      .seq_q = static_cast<int>(shape.seq_q),
      .seq_kv = static_cast<int>(shape.seq_kv),
      .kv_tiles = (static_cast<int>(shape.seq_kv) + kept_rows - 1) / kept_rows,
      .scale = problem.scale,
      .causal = shape.causal,
      .heads_first = shape.causal && method != BackwardMethod::kSplitAlone};
  with_head_dim<16, 32, 64, 80, 96, 128>(shape.head_dim, [&]<int kHeadDim>() {
    launch_backward_32bit<kExact, kHeadDim>(problem, method, parameters, stream);
  });
}

}  // namespace tbench::kernels

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
  row_products<float, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y,
                                                                             first_row, p.seq_q, sums);
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

template <bool kExact, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_atomic_32bit_kernel(const __grid_constant__ Backward32Parameters p) {
  extern __shared__ __align__(16) char shared[];
  Backward32Block<kExact, kHeadDim, Tile, false, true>{p, shared, block_place(p.heads_first)}.run();
}

template <bool kExact, int kHeadDim, class Tile>
__global__ void __launch_bounds__(Tile::tile(kHeadDim).warps* kWarpSize, Tile::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_split_32bit_kernel(const __grid_constant__ Backward32Parameters p) {
  extern __shared__ __align__(16) char shared[];
  run_split_backward_32bit<kExact, kHeadDim, Tile>(p, shared);
}

template <bool kExact, int kHeadDim>
auto backward_32bit_kernel(BackwardMethod method, bool is_grouped) {
  if (method != BackwardMethod::kAtomic) {
    return is_grouped ? &attention_backward_split_32bit_kernel<kExact, kHeadDim, GroupedSplitBackward32>
                      : &attention_backward_split_32bit_kernel<kExact, kHeadDim, SplitBackward32<kExact>>;
  }
  if constexpr (GroupedAtomicBackward32::serves(kHeadDim)) {
    if (is_grouped) return &attention_backward_atomic_32bit_kernel<kExact, kHeadDim, GroupedAtomicBackward32>;
  }
  return &attention_backward_atomic_32bit_kernel<kExact, kHeadDim, AtomicBackward32<kExact>>;
}

template <bool kExact, int kHeadDim>
void launch_backward_32bit(const AttentionProblem& problem, BackwardMethod method, bool is_grouped,
                           const Backward32Parameters& parameters, cudaStream_t stream) {
  if (method != BackwardMethod::kSplitAlone) {
    launch_kernel(method == BackwardMethod::kAtomic ? &attention_backward_prepare_32bit_kernel<kHeadDim, true>
                                                    : &attention_backward_prepare_32bit_kernel<kHeadDim, false>,
                  backward_helper_launch(problem.shape, 0), parameters, stream);
  }
  launch_kernel(backward_32bit_kernel<kExact, kHeadDim>(method, is_grouped),
                backward_32bit_launch(problem.shape, backward_32bit_tile(problem, method, is_grouped), method),
                parameters, stream);
}

template <bool kExact>
void launch_backward_32bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  const DeviceLimits limits = current_device_limits();
  const BackwardMethod method = backward_32bit_method(problem, limits);
  const bool is_grouped = wants_grouped_backward_32bit_tile(problem, method, limits);
  const int kept_rows = backward_32bit_tile(problem, method, is_grouped).kept_rows;
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
    launch_backward_32bit<kExact, kHeadDim>(problem, method, is_grouped, parameters, stream);
  });
}

}  // namespace tbench::kernels

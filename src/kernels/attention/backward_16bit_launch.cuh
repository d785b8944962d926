// The 16-bit backward kernels and their launches. Included by one .cu a precision.
#pragma once

#include "backward_16bit.cuh"
#include "head_dim.cuh"

namespace tbench::kernels {

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_backward_prepare_kernel(const __grid_constant__ BackwardParameters<Element> p) {
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  __shared__ float sums[kBackwardHelperRows];
  row_products<Element, kHeadDim, kBackwardHelperRows, kBackwardHelperThreads>(p.o, p.grad_o, blockIdx.z, blockIdx.y,
                                                                               first_row, p.seq_q, sums);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < min(kBackwardHelperRows, p.seq_q - first_row);
       i += kBackwardHelperThreads) {
    const std::int64_t row = head * p.seq_q + first_row + i;
    p.delta_out[row] = sums[i];
    if (p.base_2_lse_out != nullptr) p.base_2_lse_out[row] = p.lse[row] * kLog2E;
  }
  if (p.dq_sums == nullptr) return;
  float4* const clear = reinterpret_cast<float4*>(p.dq_sums + (head * p.query_blocks * 16 + first_row) * kHeadDim);
  for (int i = static_cast<int>(threadIdx.x); i < kBackwardHelperRows * kHeadDim / 4; i += kBackwardHelperThreads) {
    clear[i] = float4{};
  }
}

/// dq = scale * sums, from the accumulators' layout (see BackwardBlock::add_query_gradient).
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_backward_convert_kernel(const __grid_constant__ BackwardParameters<Element> p) {
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  extern __shared__ __align__(16) char tile[];
  const int first_row = static_cast<int>(blockIdx.x) * kBackwardHelperRows;
  const std::int64_t head = static_cast<std::int64_t>(blockIdx.z) * p.heads + blockIdx.y;
  const float4* const sums =
      reinterpret_cast<const float4*>(p.dq_sums + (head * p.query_blocks * 16 + first_row) * kHeadDim);
  for (int i = static_cast<int>(threadIdx.x); i < kBackwardHelperRows * kHeadDim / 4; i += kBackwardHelperThreads) {
    const int lane = i % kWarpSize, block = i / kWarpSize;
    const int row = block / (kHeadDim / 8) * 16 + lane / 4, col = block % (kHeadDim / 8) * 8 + lane % 4 * 2;
    const float4 sum = sums[i];
    char* const destination = tile + row * kRowBytes + col * 2;
    *reinterpret_cast<std::uint32_t*>(destination) = pack<Element>(sum.x * p.scale, sum.y * p.scale);
    *reinterpret_cast<std::uint32_t*>(destination + 8 * kRowBytes) = pack<Element>(sum.z * p.scale, sum.w * p.scale);
  }
  __syncthreads();
  store_tile<Element, kBackwardHelperRows, kHeadDim, kBackwardHelperThreads>(
      tile, p.dq.head(blockIdx.z, blockIdx.y), p.dq.row_stride, p.dq.vectors, first_row, p.seq_q);
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(AtomicBackward::tile(kHeadDim).warps* kWarpSize,
                                  AtomicBackward::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_atomic_kernel(const __grid_constant__ BackwardParameters<Element> p) {
  extern __shared__ __align__(16) char shared[];
  BackwardBlock<Element, kHeadDim, AtomicBackward, Gradient::kKeysAndValues, true>{p, shared, block_place(false)}.run();
}

template <class Element, int kHeadDim>
__global__ void __launch_bounds__(SplitBackward::tile(kHeadDim).warps* kWarpSize,
                                  SplitBackward::tile(kHeadDim).blocks_per_multiprocessor)
    attention_backward_split_kernel(const __grid_constant__ BackwardParameters<Element> p) {
  extern __shared__ __align__(16) char shared[];
  run_split_backward_16bit<Element, kHeadDim>(p, shared);
}

template <class Element, int kHeadDim>
void launch_backward(const AttentionProblem& problem, const BackwardMethod method,
                     const BackwardParameters<Element>& parameters, cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  if (method != BackwardMethod::kSplitAlone) {
    launch_kernel(&attention_backward_prepare_kernel<Element, kHeadDim>, backward_helper_launch(shape, 0), parameters,
                  stream);
  }
  if (method == BackwardMethod::kAtomic) {
    BackwardParameters<Element> with_base_2 = parameters;
    with_base_2.lse = parameters.base_2_lse_out;
    launch_kernel(&attention_backward_atomic_kernel<Element, kHeadDim>,
                  backward_launch(problem, AtomicBackward::tile(kHeadDim), method), with_base_2, stream);
    launch_kernel(&attention_backward_convert_kernel<Element, kHeadDim>,
                  backward_helper_launch(shape, kBackwardHelperRows * padded_row_bytes_16bit(kHeadDim)), parameters,
                  stream);
    return;
  }
  launch_kernel(&attention_backward_split_kernel<Element, kHeadDim>,
                backward_launch(problem, SplitBackward::tile(kHeadDim), method), parameters, stream);
}

template <class Element>
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  const DeviceLimits limits = current_device_limits();
  const BackwardMethod method = backward_method(problem, limits);
  const BackwardWorkspace workspace = backward_workspace(problem, limits);
  const auto part = [&](std::size_t offset, std::size_t bytes) {
    return bytes > 0 ? reinterpret_cast<float*>(static_cast<char*>(arguments.workspace) + offset) : nullptr;
  };
  float* const delta = part(0, workspace.delta_bytes);
  const int head_dim = static_cast<int>(shape.head_dim);
  const auto tiles = [&](int rows, int of) { return (rows + of - 1) / of; };
  const BackwardParameters<Element> parameters{
      .q = matrix_of<const Element>(arguments.q),
      .k = matrix_of<const Element>(arguments.k),
      .v = matrix_of<const Element>(arguments.v),
      .o = matrix_of<const Element>(arguments.o),
      .grad_o = matrix_of<const Element>(arguments.grad_o),
      .lse = arguments.lse,
      .delta = delta,
      .dq = matrix_of<Element>(arguments.dq),
      .dk = matrix_of<Element>(arguments.dk),
      .dv = matrix_of<Element>(arguments.dv),
      .delta_out = delta,
      .base_2_lse_out = part(workspace.delta_bytes, workspace.lse_bytes),
      .dq_sums = part(workspace.delta_bytes + workspace.lse_bytes, workspace.dq_sums_bytes),
      .heads = static_cast<int>(shape.heads),
      .seq_q = static_cast<int>(shape.seq_q),
      .seq_kv = static_cast<int>(shape.seq_kv),
      .query_blocks = tiles(static_cast<int>(shape.seq_q), kBackwardHelperRows) * (kBackwardHelperRows / 16),
      .kv_tiles = tiles(static_cast<int>(shape.seq_kv), SplitBackward::tile(head_dim).kept_rows),
      .scale = problem.scale,
      .causal = shape.causal,
      .heads_first = method != BackwardMethod::kAtomic && splits_heads_first(problem, limits.multiprocessors)};
  with_head_dim<16, 32, 64, 80, 96, 128, 256>(
      shape.head_dim, [&]<int kHeadDim>() { launch_backward<Element, kHeadDim>(problem, method, parameters, stream); });
}

}  // namespace tbench::kernels

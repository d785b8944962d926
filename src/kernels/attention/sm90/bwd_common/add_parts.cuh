// The kernel that adds dK and dV of the parts of a group of heads (grouped-query attention).
#pragma once

#include "kernels/attention/sm90/bwd_common/pre_postprocess.cuh"

namespace tbench::kernels::sm90 {

template <class Element>
struct AddPartsParams {
  GlobalMatrix<Element> dk, dv;
  const float *dk_sums, *dv_sums;  // [parts, batch, kv_heads, rows, head_dim], see BwdWorkspace::kv_sums_bytes
  int kv_heads, seq_kv, rows, parts;
  float scale;  // of dK
};

template <class Element>
AddPartsParams<Element> add_parts_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                             const BwdPlan& choice) {
  const WorkspacePointers workspace = workspace_parts(problem, arguments, choice);
  return {.dk = matrix_of<Element>(arguments.dk),
          .dv = matrix_of<Element>(arguments.dv),
          .dk_sums = workspace.dk_sums,
          .dv_sums = workspace.dv_sums,
          .kv_heads = static_cast<int>(problem.shape.key_heads()),
          .seq_kv = static_cast<int>(problem.shape.seq_kv),
          .rows = workspace.kv_rows,
          .parts = choice.parts,
          .scale = problem.scale};
}

/// Stores four sums times `scale` to the tile of a CTA's rows, as the postprocess kernel does. (A function for both
/// would change that kernel's machine code.) `i` counts the sums in fours.
template <class Element, int kHeadDim>
__device__ __forceinline__ void stage_sums(char* tile, int i, const float4& sum, float scale) {
  constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  const int lane = i % kWarpSize, block = i / kWarpSize;
  const int row = block / (kHeadDim / 8) * 16 + lane / 4, col = block % (kHeadDim / 8) * 8 + lane % 4 * 2;
  char* const destination = tile + row * kRowBytes + col * 2;
  *reinterpret_cast<std::uint32_t*>(destination) = pack<Element>(sum.x * scale, sum.y * scale);
  *reinterpret_cast<std::uint32_t*>(destination + 8 * kRowBytes) = pack<Element>(sum.z * scale, sum.w * scale);
}

/// Adds the parts in their order, so that results are bitwise identical in every run. Each CTA has kBackwardHelperRows
/// keys of dK (even blockIdx.x) or of dV.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kBackwardHelperThreads)
    attention_bwd_sm90_add_parts_kernel(const __grid_constant__ AddPartsParams<Element> p) {
  griddep_launch_dependents();
  __shared__ __align__(kVectorBytes) char tile[kBackwardHelperRows * row_bytes<Element>(kHeadDim)];
  const int first_row = static_cast<int>(blockIdx.x / 2) * kBackwardHelperRows;
  const bool is_dk = blockIdx.x % 2 == 0;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.z) * p.kv_heads + blockIdx.y;
  const float4* part =
      reinterpret_cast<const float4*>((is_dk ? p.dk_sums : p.dv_sums) + (index * p.rows + first_row) * kHeadDim) +
      threadIdx.x;
  const std::int64_t distance = static_cast<std::int64_t>(gridDim.z) * p.kv_heads * p.rows * kHeadDim / 4;
  float4 sums[kSumPasses<kHeadDim>]{};
  griddep_wait();
#pragma unroll 2
  for (int i = injected(InjectedFault::kGqaPart) ? 1 : 0; i < p.parts; ++i, part += distance) {
#pragma unroll
    for (int pass = 0; pass < kSumPasses<kHeadDim>; ++pass) {
      const float4 more = part[pass * kBackwardHelperThreads];
      float4& sum = sums[pass];
      sum = {sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w};
    }
  }
  const float scale = is_dk && !injected(InjectedFault::kDkScale) ? p.scale : 1.0f;
#pragma unroll
  for (int pass = 0; pass < kSumPasses<kHeadDim>; ++pass) {
    stage_sums<Element, kHeadDim>(tile, pass * kBackwardHelperThreads + static_cast<int>(threadIdx.x), sums[pass],
                                  scale);
  }
  __syncthreads();
  const GlobalMatrix<Element>& gradient = is_dk ? p.dk : p.dv;
  store_tile<Element, kBackwardHelperRows, kHeadDim, kBackwardHelperThreads>(
      tile, gradient.head(blockIdx.z, blockIdx.y), gradient.row_stride, gradient.vectors, first_row, p.seq_kv);
}

}  // namespace tbench::kernels::sm90

// Which instantiations of Hopper's backward kernels serve a problem, and their launches. Included by one .cu a
// precision.
#pragma once

#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/backward/backward_helpers_sm90.cuh"
#include "kernels/attention/sm90/backward/backward_sm90.cuh"
#include "kernels/attention/sm90/tensor_map.hpp"

namespace tbench::kernels::sm90 {

struct BackwardWorkspaceParts {
  float *lse, *delta, *sums;
};
inline BackwardWorkspaceParts parts(const BackwardWorkspace& layout, void* workspace) {
  char* const bytes = static_cast<char*>(workspace);
  return {.lse = reinterpret_cast<float*>(bytes),
          .delta = reinterpret_cast<float*>(bytes + layout.lse_bytes),
          .sums = reinterpret_cast<float*>(bytes + layout.lse_bytes + layout.delta_bytes)};
}

inline BackwardParameters backward_parameters(const AttentionProblem& problem, const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const int queries = backward_tile(static_cast<int>(shape.head_dim)).queries;
  const BackwardWorkspace workspace = backward_workspace(shape);
  const BackwardWorkspaceParts part = parts(workspace, arguments.workspace);
  const BackwardOrder order = backward_order(shape);
  const int heads = static_cast<int>(shape.batch * shape.heads), last_group = (heads - 1) / order.heads;
  const auto map = [&](const TensorView& view, std::int64_t seq, int box_rows) {
    return tensor_map(view, {shape.batch, shape.heads, seq, shape.head_dim}, problem.precision, box_rows);
  };
  return {.q = map(arguments.q, shape.seq_q, queries),
          .k = map(arguments.k, shape.seq_kv, kGroupRows),
          .v = map(arguments.v, shape.seq_kv, kGroupRows),
          .grad_o = map(arguments.grad_o, shape.seq_q, queries),
          .dk = arguments.dk,
          .dv = arguments.dv,
          .lse = part.lse,
          .delta = part.delta,
          .dq_sums = part.sums,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .rows = static_cast<int>(workspace.rows),
          .batch_heads = static_cast<int>(shape.batch * shape.heads),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = order,
          .items_of_group = divisor(order.tiles * order.heads),
          .heads_of_group = divisor(order.heads),
          .heads_of_last_group = divisor(heads - last_group * order.heads),
          .last_group = last_group};
}

template <class Element>
BackwardHelperParameters<Element> helper_parameters(const AttentionProblem& problem,
                                                    const AttentionBackward& arguments) {
  const BackwardWorkspace workspace = backward_workspace(problem.shape);
  const BackwardWorkspaceParts part = parts(workspace, arguments.workspace);
  return {.o = matrix_of<const Element>(arguments.o),
          .grad_o = matrix_of<const Element>(arguments.grad_o),
          .dq = matrix_of<Element>(arguments.dq),
          .lse = arguments.lse,
          .lse_out = part.lse,
          .delta_out = part.delta,
          .dq_sums = part.sums,
          .heads = static_cast<int>(problem.shape.heads),
          .seq_q = static_cast<int>(problem.shape.seq_q),
          .rows = static_cast<int>(workspace.rows),
          .scale = problem.scale};
}

/// launch_kernel() for a kernel that may begin before the one before it has ended.
template <class Parameters>
static void launch_early(void (*kernel)(Parameters), const Launch& launch, const Parameters& parameters,
                         cudaStream_t stream) {
  TBENCH_CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.shared_bytes)));
  upload_planted_fault(stream);
  const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
  launch_overlapping(kernel, dim3{extent(launch.grid.x), extent(launch.grid.y), extent(launch.grid.z)},
                     static_cast<unsigned>(launch.threads), launch.shared_bytes, stream, parameters);
}

template <class Element>
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BackwardDealing dealing,
                     const DeviceLimits& limits, cudaStream_t stream) {
  const auto launch = [&]<int kHeadDim>() {
    const auto helper = helper_parameters<Element>(problem, arguments);
    const AttentionShape& shape = problem.shape;
    launch_early(&attention_backward_prepare_sm90_kernel<Element, kHeadDim>, backward_prepare_launch(shape), helper,
                 stream);
    launch_early(&attention_backward_wgmma_kernel<Element, kHeadDim>, backward_launch(shape, dealing, limits),
                 backward_parameters(problem, arguments), stream);
    launch_early(&attention_backward_convert_sm90_kernel<Element, kHeadDim>, backward_convert_launch(shape), helper,
                 stream);
  };
  if (problem.shape.head_dim == 64) return launch.template operator()<64>();
  if (problem.shape.head_dim == 80) return launch.template operator()<80>();
  launch.template operator()<128>();
}

}  // namespace tbench::kernels::sm90

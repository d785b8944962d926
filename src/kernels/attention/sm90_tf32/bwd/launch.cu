// Launches of the sm90 TF32 backward pass: the selection of the instantiation for a problem, and the launches of the
// three kernels.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"
#include "kernels/attention/sm90_tf32/bwd/kernels.cuh"
#include "kernels/attention/sm90_tf32/bwd/preprocess.cuh"

namespace tbench::kernels::sm90_tf32 {
namespace {

struct WorkspacePointers {
  float *lse, *delta, *q_transposed, *grad_o_transposed, *k_transposed;
};
WorkspacePointers parts(const BwdWorkspace& layout, void* workspace) {
  char* next = static_cast<char*>(workspace);
  const auto take = [&](std::size_t bytes) {
    char* const part = next;
    next += bytes;
    return reinterpret_cast<float*>(part);
  };
  // take() advances a pointer, so the members must be initialised in the order of the workspace's parts.
  return {.lse = take(layout.statistics_bytes),
          .delta = take(layout.statistics_bytes),
          .q_transposed = take(layout.queries_bytes),
          .grad_o_transposed = take(layout.queries_bytes),
          .k_transposed = take(layout.keys_bytes)};
}

BwdPreprocessParams prepare_parameters(const AttentionProblem& problem, const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const BwdWorkspace workspace = backward_workspace(shape);
  const WorkspacePointers part = parts(workspace, arguments.workspace);
  return {.q = matrix_of<const float>(arguments.q),
          .k = matrix_of<const float>(arguments.k),
          .grad_o = matrix_of<const float>(arguments.grad_o),
          .o = matrix_of<const float>(arguments.o),
          .lse = arguments.lse,
          .q_transposed = part.q_transposed,
          .grad_o_transposed = part.grad_o_transposed,
          .k_transposed = part.k_transposed,
          .lse_out = part.lse,
          .delta_out = part.delta,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .queries = static_cast<int>(workspace.queries),
          .keys = static_cast<int>(workspace.keys),
          .scale = problem.scale};
}

BwdParams backward_parameters(const AttentionProblem& problem, const AttentionBackward& arguments, Stationary kept) {
  const AttentionShape& shape = problem.shape;
  const BwdWorkspace workspace = backward_workspace(shape);
  const WorkspacePointers part = parts(workspace, arguments.workspace);
  const auto map = [&](const TensorView& view, std::int64_t seq, int box_rows) {
    return make_tma_descriptor(view, {shape.batch, shape.heads, seq, shape.head_dim, sizeof(float)}, Precision::kTf32,
                               box_rows);
  };
  const int step_queries = stream_tile(shape.head_dim, Stationary::kKv).rows;
  static_assert(stream_tile(64, Stationary::kQ).rows == kWgmmaM && stream_tile(128, Stationary::kQ).rows == kWgmmaM,
                "boxes of K and V are of kept rows and of a step's");
  return {.kept_q = map(arguments.q, shape.seq_q, kWgmmaM),
          .kept_grad_o = map(arguments.grad_o, shape.seq_q, kWgmmaM),
          .q = map(arguments.q, shape.seq_q, step_queries),
          .grad_o = map(arguments.grad_o, shape.seq_q, step_queries),
          .k = map(arguments.k, shape.seq_kv, kWgmmaM),
          .v = map(arguments.v, shape.seq_kv, kWgmmaM),
          .q_transposed = part.q_transposed,
          .grad_o_transposed = part.grad_o_transposed,
          .k_transposed = part.k_transposed,
          .lse = part.lse,
          .delta = part.delta,
          .dq = matrix_of<float>(arguments.dq),
          .dk = matrix_of<float>(arguments.dk),
          .dv = matrix_of<float>(arguments.dv),
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .queries = static_cast<int>(workspace.queries),
          .keys = static_cast<int>(workspace.keys),
          .batch_heads = static_cast<int>(shape.batch * shape.heads),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = backward_order(shape, kept)};
}

}  // namespace

void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan plan,
                     cudaStream_t stream) {
  const auto launch = [&]<int kHeadDim>() {
    const auto launch_early = [&](auto kernel, const Launch& geometry, const auto& parameters) {
      launch_kernel(kernel, geometry, parameters, stream, /*overlaps=*/true);
    };
    launch_early(&attention_bwd_sm90_tf32_preprocess_kernel<kHeadDim>, backward_prepare_launch(problem.shape),
                 prepare_parameters(problem, arguments));
    auto keys_kernel = &attention_bwd_sm90_tf32_dkdv_kernel<kHeadDim, false>;
    if constexpr (kHeadDim == 128) {
      if (plan.pingpong) keys_kernel = &attention_bwd_sm90_tf32_dkdv_kernel<kHeadDim, true>;
    }
    launch_early(keys_kernel, backward_launch(problem.shape, Stationary::kKv),
                 backward_parameters(problem, arguments, Stationary::kKv));
    launch_early(&attention_bwd_sm90_tf32_dq_kernel<kHeadDim>, backward_launch(problem.shape, Stationary::kQ),
                 backward_parameters(problem, arguments, Stationary::kQ));
  };
  if constexpr (is_instantiated(64)) {
    if (problem.shape.head_dim == 64) return launch.template operator()<64>();
  }
  if constexpr (is_instantiated(128)) {
    if (problem.shape.head_dim == 128) launch.template operator()<128>();
  }
}

}  // namespace tbench::kernels::sm90_tf32

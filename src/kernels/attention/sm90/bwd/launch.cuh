// Parts of the launches of the sm90 backward kernels: TMA descriptors, parameters, and the launches around a kernel.
#pragma once

#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/bwd_common/params.cuh"
#include "kernels/attention/sm90/bwd_common/pre_postprocess.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {

/// Returns a TMA descriptor whose boxes hold a step's queries and, below, a descriptor whose boxes hold a warpgroup's
/// keys.
inline CUtensorMap query_map(const AttentionProblem& problem, const TensorView& view) {
  const AttentionShape& shape = problem.shape;
  const auto head_dim = static_cast<int>(shape.head_dim);
  return make_tma_descriptor(view, {shape.batch, shape.heads, shape.seq_q, head_dim}, problem.precision,
                             backward_tile(head_dim).queries, backward_panel_columns(head_dim));
}
inline CUtensorMap key_map(const AttentionProblem& problem, const TensorView& view) {
  const AttentionShape& shape = problem.shape;
  const auto head_dim = static_cast<int>(shape.head_dim);
  return make_tma_descriptor(view, {shape.batch, shape.key_heads(), shape.seq_kv, head_dim}, problem.precision, kWgmmaM,
                             backward_panel_columns(head_dim));
}

template <class Gradient, class Order>
BwdParams<Gradient, Order> backward_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                               const Gradient& dk, const Gradient& dv, const Order& order,
                                               const BwdPlan& choice) {
  const AttentionShape& shape = problem.shape;
  const WorkspacePointers parts = workspace_parts(problem, arguments, choice);
  return {.q = query_map(problem, arguments.q),
          .k = key_map(problem, arguments.k),
          .v = key_map(problem, arguments.v),
          .grad_o = query_map(problem, arguments.grad_o),
          .dk = dk,
          .dv = dv,
          .lse = parts.lse,
          .delta = parts.delta,
          .dq_sums = parts.sums,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .rows = parts.rows,
          .batch_heads = static_cast<int>(shape.batch * shape.heads),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = order};
}

/// Launches the preprocess kernel, the main kernel, and the postprocess kernel if the main kernel leaves sums of dQ.
template <class Element, int kHeadDim, class Parameters>
void launch_with_helpers(const AttentionProblem& problem, const AttentionBackward& arguments, const BwdPlan& choice,
                         void (*kernel)(Parameters), const Launch& geometry, const Parameters& parameters,
                         cudaStream_t stream) {
  const auto helper = helper_parameters<Element>(problem, arguments, choice);
  const AttentionShape& shape = problem.shape;
  const auto launch_early = [&](auto of_pass, const Launch& launch, const auto& of_kernel) {
    launch_kernel(of_pass, launch, of_kernel, stream, /*overlaps=*/true);
  };
  launch_early(&attention_bwd_sm90_preprocess_kernel<Element, kHeadDim>, backward_prepare_launch(shape), helper);
  launch_early(kernel, geometry, parameters);
  if (choice.sums == DqAccumulation::kPerHead && choice.shares == 1) return;  // the kernel has written dQ itself
  auto convert = &attention_bwd_sm90_postprocess_kernel<Element, kHeadDim, 1>;
  if constexpr (kHeadDim <= 128) {
    if (choice.sums != DqAccumulation::kAtomic) {
      convert = &attention_bwd_sm90_postprocess_kernel<Element, kHeadDim, kMaxSumsApart>;
    }
  }
  launch_early(convert, backward_convert_launch(shape), helper);
}

}  // namespace tbench::kernels::sm90

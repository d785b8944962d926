// Launches of the backward kernels of one precision, Precision::TBENCH_PRECISION. CMakeLists.txt compiles this file
// once per precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm80/bwd/config.hpp"
#include "kernels/attention/sm80/bwd/kernels_16bit.cuh"
#include "kernels/attention/sm80/bwd/kernels_fp32.cuh"

namespace tbench::kernels::sm80 {
namespace {

template <class Element>
BwdParams<Element> parameters_16bit(const AttentionProblem& problem, const BwdPlan& plan,
                                    const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const BwdWorkspace& workspace = plan.workspace;
  const auto part = [&](std::size_t offset, std::size_t bytes) {
    return bytes > 0 ? reinterpret_cast<float*>(static_cast<char*>(arguments.workspace) + offset) : nullptr;
  };
  float* const delta = part(0, workspace.delta_bytes);
  const std::int64_t kept_rows = BwdSplit::tile(static_cast<int>(shape.head_dim)).kept_rows;
  return {.q = matrix_of<const Element>(arguments.q),
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
          .query_blocks = static_cast<int>(block_count(shape.seq_q, kBackwardHelperRows) * (kBackwardHelperRows / 16)),
          .kv_tiles = static_cast<int>(block_count(shape.seq_kv, kept_rows)),
          .scale = problem.scale,
          .causal = shape.causal,
          .heads_first = plan.heads_first};
}

[[maybe_unused]] BwdFp32Params parameters_32bit(const AttentionProblem& problem, const BwdPlan& plan,
                                                const AttentionBackward& arguments) {
  const AttentionShape& shape = problem.shape;
  const std::int64_t kept_rows = backward_32bit_tile(problem, plan.method, plan.splits_warps).kept_rows;
  return {.q = matrix_of<const float>(arguments.q),
          .k = matrix_of<const float>(arguments.k),
          .v = matrix_of<const float>(arguments.v),
          .o = matrix_of<const float>(arguments.o),
          .grad_o = matrix_of<const float>(arguments.grad_o),
          .lse = arguments.lse,
          .delta = plan.workspace.delta_bytes > 0 ? static_cast<float*>(arguments.workspace) : nullptr,
          .dq = matrix_of<float>(arguments.dq),
          .dk = matrix_of<float>(arguments.dk),
          .dv = matrix_of<float>(arguments.dv),
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .kv_tiles = static_cast<int>(block_count(shape.seq_kv, kept_rows)),
          .scale = problem.scale,
          .causal = shape.causal,
          .heads_first = plan.heads_first};
}

template <class Element, int kHeadDim>
void launch_16bit(const AttentionProblem& problem, BwdAlgorithm method, const BwdParams<Element>& parameters,
                  cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  if (method != BwdAlgorithm::kSplitFusedDelta) {
    launch_kernel(&attention_bwd_sm80_preprocess_16bit_kernel<Element, kHeadDim>, backward_helper_launch(shape, 0),
                  parameters, stream);
  }
  if (method == BwdAlgorithm::kAtomicDq) {
    BwdParams<Element> with_base_2 = parameters;
    with_base_2.lse = parameters.base_2_lse_out;
    launch_kernel(&attention_bwd_sm80_atomic_16bit_kernel<Element, kHeadDim>,
                  backward_launch(problem, BwdAtomic::tile(kHeadDim), method), with_base_2, stream);
    launch_kernel(&attention_bwd_sm80_postprocess_16bit_kernel<Element, kHeadDim>,
                  backward_helper_launch(shape, kBackwardHelperRows * padded_row_bytes_16bit(kHeadDim)), parameters,
                  stream);
    return;
  }
  launch_kernel(&attention_bwd_sm80_split_16bit_kernel<Element, kHeadDim>,
                backward_launch(problem, BwdSplit::tile(kHeadDim), method), parameters, stream);
}

template <bool k3xTf32, int kHeadDim>
void launch_32bit(const AttentionProblem& problem, const BwdPlan& plan, const BwdFp32Params& parameters,
                  cudaStream_t stream) {
  const BwdAlgorithm method = plan.method;
  if (method != BwdAlgorithm::kSplitFusedDelta) {
    launch_kernel(method == BwdAlgorithm::kAtomicDq ? &attention_bwd_sm80_preprocess_fp32_kernel<kHeadDim, true>
                                                    : &attention_bwd_sm80_preprocess_fp32_kernel<kHeadDim, false>,
                  backward_helper_launch(problem.shape, 0), parameters, stream);
  }
  launch_kernel(backward_32bit_kernel<k3xTf32, kHeadDim>(method, plan.splits_warps),
                backward_32bit_launch(problem.shape, backward_32bit_tile(problem, method, plan.splits_warps), method),
                parameters, stream);
}

}  // namespace

template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const BwdPlan& plan, const AttentionBackward& arguments,
                     cudaStream_t stream) {
  if constexpr (is_16bit(kPrecision)) {
    using Element = StoredElement<kPrecision>;
    const auto parameters = parameters_16bit<Element>(problem, plan, arguments);
    with_head_dim<kPrecision>(problem.shape.head_dim, [&]<int kHeadDim>() {
      launch_16bit<Element, kHeadDim>(problem, plan.method, parameters, stream);
    });
  } else {
    const BwdFp32Params parameters = parameters_32bit(problem, plan, arguments);
    with_head_dim<kPrecision>(problem.shape.head_dim, [&]<int kHeadDim>() {
      launch_32bit<kPrecision == Precision::kFp32, kHeadDim>(problem, plan, parameters, stream);
    });
  }
}

template void launch_backward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const BwdPlan&,
                                                           const AttentionBackward&, cudaStream_t);

}  // namespace tbench::kernels::sm80

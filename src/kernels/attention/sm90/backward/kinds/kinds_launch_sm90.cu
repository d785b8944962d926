// Hopper's backward kernels of two kinds of items of one precision, Precision::TBENCH_PRECISION: which instantiation
// serves a problem, and the two launches. CMakeLists.txt compiles this file once for each precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/backward/backward_helpers_sm90.cuh"
#include "kernels/attention/sm90/backward/kinds/kinds_sm90.cuh"
#include "kernels/attention/sm90/tensor_map.hpp"

namespace tbench::kernels::sm90 {
namespace {

struct PreparedStatistics {
  float *lse, *delta;
  int rows;
};
PreparedStatistics prepared_statistics(const AttentionProblem& problem, void* workspace) {
  const BackwardWorkspace layout = backward_workspace(problem.shape, BackwardSums::kNone);
  char* const bytes = static_cast<char*>(workspace);
  return {.lse = reinterpret_cast<float*>(bytes),
          .delta = reinterpret_cast<float*>(bytes + layout.lse_bytes),
          .rows = static_cast<int>(layout.rows)};
}

/// But for lse and delta.
KindsParameters kinds_parameters(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone) {
  const AttentionShape& shape = problem.shape;
  const auto map = [&](const TensorView& view, std::int64_t seq) {
    return tensor_map(view, {shape.batch, shape.heads, seq, shape.head_dim}, problem.precision, kGroupRows);
  };
  return {.q = map(arguments.q, shape.seq_q),
          .k = map(arguments.k, shape.seq_kv),
          .v = map(arguments.v, shape.seq_kv),
          .grad_o = map(arguments.grad_o, shape.seq_q),
          .o = is_alone ? map(arguments.o, shape.seq_q) : CUtensorMap{},
          .dq = arguments.dq,
          .dk = arguments.dk,
          .dv = arguments.dv,
          .lse = arguments.lse,
          .delta = nullptr,
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .rows = static_cast<int>(shape.seq_q),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = kinds_order(shape)};
}

template <class Element>
BackwardHelperParameters<Element> kinds_helper_parameters(const AttentionProblem& problem,
                                                          const AttentionBackward& arguments) {
  const PreparedStatistics statistics = prepared_statistics(problem, arguments.workspace);
  return {.o = matrix_of<const Element>(arguments.o),
          .grad_o = matrix_of<const Element>(arguments.grad_o),
          .dq = matrix_of<Element>(arguments.dq),
          .lse = arguments.lse,
          .lse_out = statistics.lse,
          .delta_out = statistics.delta,
          .dq_sums = nullptr,
          .heads = static_cast<int>(problem.shape.heads),
          .seq_q = static_cast<int>(problem.shape.seq_q),
          .rows = statistics.rows,
          .sums_apart = 1,  // nothing is cleared
          .causal = problem.shape.causal,
          .scale = problem.scale};
}

}  // namespace

template <Precision kPrecision>
void launch_backward_kinds(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone,
                           const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto launch = [&]<class Tile>(const KindsParameters& parameters) {
    launch_kernel(&attention_backward_kinds_wgmma_kernel<Element, Tile>,
                  kinds_launch(problem.shape, Tile::tile(), limits), parameters, stream, /*overlaps=*/true);
  };
  KindsParameters parameters = kinds_parameters(problem, arguments, is_alone);
  if (is_alone) return launch.template operator()<AloneKinds>(parameters);
  const PreparedStatistics statistics = prepared_statistics(problem, arguments.workspace);
  launch_kernel(&attention_backward_prepare_sm90_kernel<Element, kKindsHeadDim>, backward_prepare_launch(problem.shape),
                kinds_helper_parameters<Element>(problem, arguments), stream, /*overlaps=*/true);
  parameters.lse = statistics.lse;
  parameters.delta = statistics.delta;
  parameters.rows = statistics.rows;
  launch.template operator()<PreparedKinds>(parameters);
}

template void launch_backward_kinds<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionBackward&,
                                                                 bool, const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

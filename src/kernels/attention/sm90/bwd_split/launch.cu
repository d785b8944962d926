// Launches of the sm90 split backward pass for one precision, Precision::TBENCH_PRECISION: selects the instantiation
// for a problem, with or without a preprocess kernel. CMakeLists.txt compiles this file once per precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/bwd_common/pre_postprocess.cuh"
#include "kernels/attention/sm90/bwd_split/kernel.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// Returns the parameters, except for lse and delta.
SplitParams kinds_parameters(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone) {
  const AttentionShape& shape = problem.shape;
  const auto map = [&](const TensorView& view, std::int64_t seq) {
    return make_tma_descriptor(view, {shape.batch, shape.heads, seq, shape.head_dim}, problem.precision, kWgmmaM);
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

}  // namespace

template <Precision kPrecision>
void launch_backward_kinds(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone,
                           const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto launch = [&]<class Tile>(const SplitParams& parameters) {
    launch_kernel(&attention_bwd_sm90_split_kernel<Element, Tile>, kinds_launch(problem.shape, Tile::tile(), limits),
                  parameters, stream, /*overlaps=*/true);
  };
  SplitParams parameters = kinds_parameters(problem, arguments, is_alone);
  if (is_alone) return launch.template operator()<SplitFusedStats>(parameters);
  const auto helper = helper_parameters<Element>(problem, arguments, {.sums = DqAccumulation::kNone});
  launch_kernel(&attention_bwd_sm90_preprocess_kernel<Element, kKindsHeadDim>, backward_prepare_launch(problem.shape),
                helper, stream, /*overlaps=*/true);
  parameters.lse = helper.lse_out;
  parameters.delta = helper.delta_out;
  parameters.rows = helper.rows;
  launch.template operator()<SplitPreprocessed>(parameters);
}

template void launch_backward_kinds<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionBackward&,
                                                                 bool, const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

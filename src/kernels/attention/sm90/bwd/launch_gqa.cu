// Launches of grouped-query attention by the sm90 backward kernels for one precision, Precision::TBENCH_PRECISION:
// selects the instantiations for a problem. CMakeLists.txt compiles this file once per precision.
#include "kernels/attention/sm90/bwd/launch.cuh"
#include "kernels/attention/sm90/bwd_common/add_parts.cuh"
#include "kernels/attention/sm90/bwd_persistent/kernel.cuh"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"

namespace tbench::kernels::sm90 {
namespace {

template <class Gradient, class Order>
GqaBwdParams<Gradient, Order> gqa_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                             const Gradient& dk, const Gradient& dv, const Order& order,
                                             const BwdPlan& choice) {
  const WorkspacePointers workspace = workspace_parts(problem, arguments, choice);
  const auto group = static_cast<int>(problem.shape.group());
  GqaBwdParams<Gradient, Order> parameters{backward_parameters(problem, arguments, dk, dv, order, choice),
                                           group / choice.parts,
                                           make_fast_divmod(choice.parts),
                                           workspace.dk_sums,
                                           workspace.dv_sums,
                                           workspace.kv_rows};
  parameters.heads = static_cast<int>(problem.shape.key_heads()) * choice.parts;
  parameters.batch_heads = parameters.heads * static_cast<int>(problem.shape.batch);
  return parameters;
}

GqaPersistentParams persistent_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                          const BwdPlan& choice) {
  return gqa_parameters(problem, arguments, arguments.dk, arguments.dv, staying_order(problem.shape, choice.parts),
                        choice);
}

GqaTileParams tile_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                              const BwdPlan& choice) {
  return gqa_parameters(problem, arguments, key_map(problem, arguments.dk), key_map(problem, arguments.dv),
                        backward_order(problem.shape, choice.parts), choice);
}

}  // namespace

template <Precision kPrecision>
void launch_gqa_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                         const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto launch = [&]<int kHeadDim>(auto kernel, const auto& parameters) {
    launch_with_helpers<Element, kHeadDim>(problem, arguments, choice, kernel,
                                           backward_launch(problem.shape, choice.blocks, limits, choice.parts),
                                           parameters, stream);
    if (choice.parts == 1) return;
    launch_kernel(&attention_bwd_sm90_add_parts_kernel<Element, kHeadDim>, backward_add_parts_launch(problem.shape),
                  add_parts_parameters<Element>(problem, arguments, choice), stream, /*overlaps=*/true);
  };
  const auto launch_persistent = [&]<int kHeadDim, DqAccumulation kSums>() {
    launch.template operator()<kHeadDim>(&attention_bwd_sm90_persistent_gqa_kernel<Element, kHeadDim, kSums>,
                                         persistent_parameters(problem, arguments, choice));
  };
  if (choice.blocks == BwdSchedule::kOneTilePerCta) {
    return launch.template operator()<128>(&attention_bwd_sm90_tile_gqa_kernel<Element, 128>,
                                           tile_parameters(problem, arguments, choice));
  }
  const bool is_80 = problem.shape.head_dim == 80;
  if (choice.sums == DqAccumulation::kAtomic) {
    return is_80 ? launch_persistent.template operator()<80, DqAccumulation::kAtomic>()
                 : launch_persistent.template operator()<64, DqAccumulation::kAtomic>();
  }
  if (problem.shape.head_dim == 128) return launch_persistent.template operator()<128, DqAccumulation::kPerKvTile>();
  return is_80 ? launch_persistent.template operator()<80, DqAccumulation::kPerKvTile>()
               : launch_persistent.template operator()<64, DqAccumulation::kPerKvTile>();
}

template void launch_gqa_backward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionBackward&,
                                                               BwdPlan, const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

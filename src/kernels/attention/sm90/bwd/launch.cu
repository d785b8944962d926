// Launches of the sm90 backward kernels for one precision, Precision::TBENCH_PRECISION: selects the instantiations for
// a problem. CMakeLists.txt compiles this file once per precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/bwd_common/pre_postprocess.cuh"
#include "kernels/attention/sm90/bwd_hdim256/kernel.cuh"
#include "kernels/attention/sm90/bwd_persistent/kernel.cuh"
#include "kernels/attention/sm90/bwd_split/config.hpp"
#include "kernels/attention/sm90/bwd_tile/kernel.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// Returns a TMA descriptor whose boxes hold a step's queries and, below, a descriptor whose boxes hold a warpgroup's
/// keys.
CUtensorMap query_map(const AttentionProblem& problem, const TensorView& view) {
  const AttentionShape& shape = problem.shape;
  const auto head_dim = static_cast<int>(shape.head_dim);
  return make_tma_descriptor(view, {shape.batch, shape.heads, shape.seq_q, head_dim}, problem.precision,
                             backward_tile(head_dim).queries, backward_panel_columns(head_dim));
}
CUtensorMap key_map(const AttentionProblem& problem, const TensorView& view) {
  const AttentionShape& shape = problem.shape;
  const auto head_dim = static_cast<int>(shape.head_dim);
  return make_tma_descriptor(view, {shape.batch, shape.heads, shape.seq_kv, head_dim}, problem.precision, kWgmmaM,
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

PersistentParams staying_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                                    const BwdPlan& choice) {
  return backward_parameters(problem, arguments, arguments.dk, arguments.dv, staying_order(problem.shape), choice);
}

PerHeadParams heads_parameters(const AttentionProblem& problem, const AttentionBackward& arguments,
                               const BwdPlan& choice) {
  return backward_parameters(problem, arguments, arguments.dk, arguments.dv,
                             heads_order(problem.shape, choice.shares, arguments.dq), choice);
}

TileParams one_item_parameters(const AttentionProblem& problem, const AttentionBackward& arguments) {
  return backward_parameters(problem, arguments, key_map(problem, arguments.dk), key_map(problem, arguments.dv),
                             backward_order(problem.shape), BwdPlan{});
}

}  // namespace

template <Precision kPrecision>
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                     const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  if (choice.sums == DqAccumulation::kNone) {
    return launch_backward_kinds<kPrecision>(problem, arguments, choice.is_alone, limits, stream);
  }
  const auto launch = [&]<int kHeadDim>(auto kernel, const auto& parameters) {
    const auto helper = helper_parameters<Element>(problem, arguments, choice);
    const AttentionShape& shape = problem.shape;
    const auto launch_early = [&](auto of_pass, const Launch& geometry, const auto& of_kernel) {
      launch_kernel(of_pass, geometry, of_kernel, stream, /*overlaps=*/true);
    };
    const bool by_heads = choice.sums == DqAccumulation::kPerHead;
    launch_early(&attention_bwd_sm90_preprocess_kernel<Element, kHeadDim>, backward_prepare_launch(shape), helper);
    launch_early(
        kernel,
        by_heads ? backward_heads_launch(shape, choice.shares, limits) : backward_launch(shape, choice.blocks, limits),
        parameters);
    if (by_heads && choice.shares == 1) return;  // the kernel has written dQ itself
    auto convert = &attention_bwd_sm90_postprocess_kernel<Element, kHeadDim, 1>;
    if constexpr (kHeadDim <= 128) {
      if (choice.sums != DqAccumulation::kAtomic) {
        convert = &attention_bwd_sm90_postprocess_kernel<Element, kHeadDim, kMaxSumsApart>;
      }
    }
    launch_early(convert, backward_convert_launch(shape), helper);
  };
  const auto launch_staying = [&]<int kHeadDim, DqAccumulation kSums>() {
    const auto parameters = [&] {
      if constexpr (kSums == DqAccumulation::kPerHead) {
        return heads_parameters(problem, arguments, choice);
      } else {
        return staying_parameters(problem, arguments, choice);
      }
    };
    launch.template operator()<kHeadDim>(&attention_bwd_sm90_persistent_kernel<Element, kHeadDim, kSums>, parameters());
  };
  const bool is_80 = problem.shape.head_dim == 80;
  if (problem.shape.head_dim == 256) {
    return launch.template operator()<256>(&attention_bwd_sm90_hdim256_kernel<Element, 256>,
                                           one_item_parameters(problem, arguments));
  }
  if (choice.blocks == BwdSchedule::kOneTilePerCta) {
    return launch.template operator()<128>(&attention_bwd_sm90_tile_kernel<Element, 128>,
                                           one_item_parameters(problem, arguments));
  }
  if (choice.sums == DqAccumulation::kPerHead) {
    return is_80 ? launch_staying.template operator()<80, DqAccumulation::kPerHead>()
                 : launch_staying.template operator()<64, DqAccumulation::kPerHead>();
  }
  if (choice.sums == DqAccumulation::kAtomic) {
    return is_80 ? launch_staying.template operator()<80, DqAccumulation::kAtomic>()
                 : launch_staying.template operator()<64, DqAccumulation::kAtomic>();
  }
  if (problem.shape.head_dim == 128) return launch_staying.template operator()<128, DqAccumulation::kPerKvTile>();
  return is_80 ? launch_staying.template operator()<80, DqAccumulation::kPerKvTile>()
               : launch_staying.template operator()<64, DqAccumulation::kPerKvTile>();
}

template void launch_backward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionBackward&, BwdPlan,
                                                           const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

// Parts of the launches of the sm90 forward kernels: their parameters, and the selection of the instantiation for a
// problem.
#pragma once

#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"
#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90/fwd/kernel.cuh"

namespace tbench::kernels::sm90 {

inline FwdParams forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments, FwdConfig tile,
                                    FwdPlan choice) {
  const AttentionShape& shape = problem.shape;
  const auto map = [&](const TensorView& view, std::int64_t heads, std::int64_t seq, int box_rows) {
    return make_tma_descriptor(view, {shape.batch, heads, seq, shape.head_dim}, problem.precision, box_rows);
  };
  const TileOrder order = forward_order(shape, rows(tile), choice.in_turns);
  return {.q = map(arguments.q, shape.heads, shape.seq_q, kWgmmaM),
          .k = map(arguments.k, shape.key_heads(), shape.seq_kv, tile.cols),
          .v = map(arguments.v, shape.key_heads(), shape.seq_kv, tile.cols),
          .o = map(arguments.o, shape.heads, shape.seq_q, kWgmmaM),
          .lse = arguments.lse,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = order,
          .divisors = forward_divisors(order, shape),
          .counter = choice.counted ? static_cast<unsigned*>(arguments.workspace) : nullptr,
          .stored_o = arguments.o};
}

/// Launches the instantiation of a plan.
/// @tparam Kernels  has launch<Element, kHeadDim, Tile>(problem, parameters, geometry, stream, overlaps)
template <Precision kPrecision, class Kernels>
void launch_planned(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto launch = [&]<int kHeadDim, class Tile>() {
    const FwdParams parameters = forward_parameters(problem, arguments, Tile::tile(), choice);
    if (parameters.counter != nullptr) {
      TBENCH_CUDA_CHECK(cudaMemsetAsync(parameters.counter, 0, sizeof(unsigned), stream));
    }
    Kernels::template launch<Element, kHeadDim, Tile>(
        problem, parameters, forward_launch(problem.shape, Tile::tile(), limits), stream, choice.overlaps);
  };
  const auto has = [&](std::int64_t head_dim, FwdConfigId tiles) {
    return problem.shape.head_dim == head_dim && choice.tiles == tiles;
  };
  if constexpr (is_instantiated(32)) {
    if (has(32, FwdConfigId::kM256N64)) return launch.template operator()<32, FwdM256N64>();
    if (problem.shape.head_dim == 32) return launch.template operator()<32, FwdM128N128>();
  }
  if constexpr (is_instantiated(64)) {
    if (has(64, FwdConfigId::kM192N128)) return launch.template operator()<64, FwdM192N128>();
    if (has(64, FwdConfigId::kM128N64x2)) return launch.template operator()<64, FwdM128N64x2>();
    if (has(64, FwdConfigId::kM64N128x2)) return launch.template operator()<64, FwdM64N128x2>();
    if (problem.shape.head_dim == 64) return launch.template operator()<64, FwdM128N128>();
  }
  if constexpr (is_instantiated(80)) {
    if (has(80, FwdConfigId::kM192N64)) return launch.template operator()<80, FwdM192N64>();
    if (problem.shape.head_dim == 80) return launch.template operator()<80, FwdM128N128>();
  }
  if constexpr (is_instantiated(128)) {
    if (has(128, FwdConfigId::kM192N64Wide)) return launch.template operator()<128, FwdM192N64Wide>();
    if (problem.shape.head_dim == 128) return launch.template operator()<128, FwdM128N128>();
  }
  if constexpr (is_instantiated(256)) {
    if (problem.shape.head_dim == 256) launch.template operator()<256, FwdM128N64>();
  }
}

}  // namespace tbench::kernels::sm90

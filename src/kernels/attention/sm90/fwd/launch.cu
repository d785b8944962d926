// Hopper's forward kernel of one precision, Precision::TBENCH_PRECISION: which instantiation serves a problem, and its
// launch. CMakeLists.txt compiles this file once for each precision.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"
#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90/fwd/kernel.cuh"

namespace tbench::kernels::sm90 {

namespace {

ForwardParameters forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments,
                                     ForwardTile tile, ForwardChoice choice) {
  const AttentionShape& shape = problem.shape;
  const auto map = [&](const TensorView& view, std::int64_t seq, int box_rows) {
    return tensor_map(view, {shape.batch, shape.heads, seq, shape.head_dim}, problem.precision, box_rows);
  };
  const ForwardOrder order = forward_order(shape, rows(tile), choice.in_turns);
  return {.q = map(arguments.q, shape.seq_q, kGroupRows),
          .k = map(arguments.k, shape.seq_kv, tile.cols),
          .v = map(arguments.v, shape.seq_kv, tile.cols),
          .o = map(arguments.o, shape.seq_q, kGroupRows),
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

}  // namespace

template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, ForwardChoice choice,
                    const DeviceLimits& limits, cudaStream_t stream) {
  using Element = StoredElement<kPrecision>;
  const auto launch = [&]<int kHeadDim, class Tile>() {
    const ForwardParameters parameters = forward_parameters(problem, arguments, Tile::tile(), choice);
    if (parameters.counter != nullptr) {
      TBENCH_CUDA_CHECK(cudaMemsetAsync(parameters.counter, 0, sizeof(unsigned), stream));
    }
    const Launch geometry = forward_launch(problem.shape, Tile::tile(), limits);
    launch_kernel(&attention_forward_wgmma_kernel<Element, kHeadDim, Tile>, geometry, parameters, stream,
                  choice.overlaps);
  };
  const auto has = [&](std::int64_t head_dim, ForwardTiles tiles) {
    return problem.shape.head_dim == head_dim && choice.tiles == tiles;
  };
  if constexpr (is_instantiated(32)) {
    if (has(32, ForwardTiles::kTall)) return launch.template operator()<32, TallForward>();
    if (problem.shape.head_dim == 32) return launch.template operator()<32, NarrowForward>();
  }
  if constexpr (is_instantiated(64)) {
    if (has(64, ForwardTiles::kWide)) return launch.template operator()<64, WideForward>();
    if (has(64, ForwardTiles::kShort)) return launch.template operator()<64, ShortForward>();
    if (has(64, ForwardTiles::kPair)) return launch.template operator()<64, PairForward>();
    if (problem.shape.head_dim == 64) return launch.template operator()<64, NarrowForward>();
  }
  if constexpr (is_instantiated(80)) {
    if (has(80, ForwardTiles::kWide)) return launch.template operator()<80, Wide80Forward>();
    if (problem.shape.head_dim == 80) return launch.template operator()<80, NarrowForward>();
  }
  if constexpr (is_instantiated(128)) {
    if (problem.shape.head_dim == 128) return launch.template operator()<128, NarrowForward>();
  }
  if constexpr (is_instantiated(256)) {
    if (problem.shape.head_dim == 256) launch.template operator()<256, DeepForward>();
  }
}

template void launch_forward<Precision::TBENCH_PRECISION>(const AttentionProblem&, const AttentionForward&,
                                                          ForwardChoice, const DeviceLimits&, cudaStream_t);

}  // namespace tbench::kernels::sm90

// Launches of the sm90 TF32 forward pass: the selection of the instantiation for a problem, and the launches of the two
// kernels.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/sm90/common/tma_descriptor.hpp"
#include "kernels/attention/sm90_tf32/fwd/kernel.cuh"
#include "kernels/attention/sm90_tf32/fwd/preprocess.cuh"

namespace tbench::kernels::sm90_tf32 {
namespace {

struct WorkspacePointers {
  unsigned* counter;  // null with the static schedule
  float* values;
};
WorkspacePointers parts(const FwdWorkspace& layout, void* workspace) {
  char* const counter = static_cast<char*>(workspace);
  return {.counter = layout.counter_bytes > 0 ? reinterpret_cast<unsigned*>(counter) : nullptr,
          .values = reinterpret_cast<float*>(counter + layout.counter_bytes)};
}

FwdParams forward_parameters(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice) {
  const AttentionShape& shape = problem.shape;
  const FwdWorkspace workspace = forward_workspace(shape, choice);
  const WorkspacePointers part = parts(workspace, arguments.workspace);
  const auto map = [&](const TensorView& view, std::int64_t seq, Precision precision, int box_rows) {
    return make_tma_descriptor(view, {shape.batch, shape.heads, seq, shape.head_dim, sizeof(float)}, precision,
                               box_rows);
  };
  const TileOrder order = forward_order(shape, choice);
  return {.q = map(arguments.q, shape.seq_q, Precision::kFp32, kWgmmaM),
          .k = map(arguments.k, shape.seq_kv, Precision::kTf32, forward_tile(shape.head_dim).cols),
          .values = part.values,
          .o = arguments.o,
          .lse = arguments.lse,
          .heads = static_cast<int>(shape.heads),
          .seq_q = static_cast<int>(shape.seq_q),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .key_tiles = static_cast<int>(workspace.key_tiles),
          .scale = problem.scale,
          .causal = shape.causal,
          .order = order,
          .divisors = forward_divisors(order, shape),
          .counter = part.counter};
}

PreprocessParams prepare_parameters(const AttentionProblem& problem, const AttentionForward& arguments,
                                    FwdPlan choice) {
  const AttentionShape& shape = problem.shape;
  const FwdWorkspace workspace = forward_workspace(shape, choice);
  const WorkspacePointers part = parts(workspace, arguments.workspace);
  return {.v = matrix_of<const float>(arguments.v),
          .values = part.values,
          .counter = part.counter,
          .heads = static_cast<int>(shape.heads),
          .seq_kv = static_cast<int>(shape.seq_kv),
          .padded_keys = static_cast<int>(workspace.key_tiles) * forward_tile(shape.head_dim).cols};
}

}  // namespace

void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream) {
  const auto launch = [&]<int kHeadDim>() {
    launch_kernel(&attention_fwd_sm90_tf32_preprocess_kernel<kHeadDim>, prepare_launch(problem.shape),
                  prepare_parameters(problem, arguments, choice), stream, /*overlaps=*/true);
    launch_kernel(&attention_fwd_sm90_tf32_kernel<kHeadDim>, forward_launch(problem.shape, limits),
                  forward_parameters(problem, arguments, choice), stream, /*overlaps=*/true);
  };
  if constexpr (is_instantiated(64)) {
    if (problem.shape.head_dim == 64) return launch.template operator()<64>();
  }
  if constexpr (is_instantiated(128)) {
    if (problem.shape.head_dim == 128) launch.template operator()<128>();
  }
}

}  // namespace tbench::kernels::sm90_tf32

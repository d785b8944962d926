#include "kernels/attention/sm80/gqa/ungroup.hpp"

#include <array>

namespace tbench::kernels::sm80 {
namespace {

constexpr std::size_t kWorkspaceAlignment = 256;

using Strides = std::array<std::int64_t, 3>;

std::int64_t element_bytes(const AttentionProblem& problem) { return is_16bit(problem.precision) ? 2 : 4; }

bool folds(const Strides& strides, std::int64_t heads) { return strides[0] == heads * strides[1]; }

/// Strides of a tensor with the heads of Q: a sequence of the launch has the `group` heads of a head of K and V.
Strides strides_of_queries(const Strides& strides, std::int64_t group) {
  return {group * strides[1], strides[1], strides[2]};
}
/// Strides of K or V, which all heads of a group share.
Strides strides_of_keys(const Strides& strides) { return {strides[1], 0, strides[2]}; }

TensorView moved(const AttentionProblem& problem, const TensorView& view, std::int64_t elements,
                 const Strides& strides) {
  return {.data = static_cast<char*>(view.data) + elements * element_bytes(problem), .strides = strides};
}

TensorView queries_of(const AttentionProblem& problem, const TensorView& view, std::int64_t sequence) {
  return moved(problem, view, sequence * view.strides[0], strides_of_queries(view.strides, problem.shape.group()));
}
TensorView keys_of(const AttentionProblem& problem, const TensorView& view, std::int64_t sequence) {
  return moved(problem, view, sequence * view.strides[0], strides_of_keys(view.strides));
}

/// First row of a sequence in lse.
std::int64_t lse_offset(const AttentionProblem& problem, std::int64_t sequence) {
  return sequence * problem.shape.heads * problem.shape.seq_q;
}

}  // namespace

bool folds_batch(const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const AttentionLayout& layout = problem.layout;
  if (shape.batch == 1) return true;
  bool all = true;
  for (const TensorLayout* tensor : {&layout.q, &layout.o, &layout.grad_o, &layout.dq}) {
    all = all && folds(tensor->strides, shape.heads);  // the forward pass leaves the gradients' strides at 0
  }
  for (const TensorLayout* tensor : {&layout.k, &layout.v}) all = all && folds(tensor->strides, shape.key_heads());
  return all;
}

AttentionProblem ungrouped(const AttentionProblem& problem, bool folded) {
  if (problem.shape.group() == 1) return problem;
  AttentionProblem one = problem;
  one.shape.batch = problem.shape.key_heads() * (folded ? problem.shape.batch : 1);
  one.shape.heads = problem.shape.group();
  one.shape.kv_heads = 0;
  return one;
}

GqaWorkspace gqa_workspace(const AttentionProblem& problem, std::size_t kernel_bytes) {
  const AttentionShape& shape = problem.shape;
  const std::int64_t elements = shape.batch * shape.heads * shape.seq_kv * shape.head_dim;
  return {.of_kernels = (kernel_bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment,
          .dk_bytes = static_cast<std::size_t>(elements * element_bytes(problem))};
}

Launch add_groups_launch(const AttentionShape& shape) {
  const std::int64_t blocks = block_count(shape.seq_kv * shape.head_dim, kAddGroupsThreads);
  return {.grid = {2 * blocks, shape.key_heads(), shape.batch}, .threads = kAddGroupsThreads};
}

AttentionForward arguments_of_launch(const AttentionProblem& problem, const AttentionForward& arguments,
                                     std::int64_t sequence) {
  AttentionForward one = arguments;
  one.q = queries_of(problem, arguments.q, sequence);
  one.k = keys_of(problem, arguments.k, sequence);
  one.v = keys_of(problem, arguments.v, sequence);
  one.o = queries_of(problem, arguments.o, sequence);
  one.lse = arguments.lse + lse_offset(problem, sequence);
  return one;
}

AttentionBackward arguments_of_launch(const AttentionProblem& problem, const AttentionBackward& arguments,
                                      std::size_t kernel_bytes, std::int64_t sequence) {
  const AttentionShape& shape = problem.shape;
  const GqaWorkspace workspace = gqa_workspace(problem, kernel_bytes);
  char* const gradients = static_cast<char*>(arguments.workspace) + workspace.of_kernels;
  const std::int64_t of_head = shape.seq_kv * shape.head_dim;
  const auto of_every_head = [&](char* data) {
    const TensorView all{.data = data, .strides = {shape.heads * of_head, of_head, shape.head_dim}};
    return queries_of(problem, all, sequence);
  };
  AttentionBackward one = arguments;
  one.q = queries_of(problem, arguments.q, sequence);
  one.k = keys_of(problem, arguments.k, sequence);
  one.v = keys_of(problem, arguments.v, sequence);
  one.o = queries_of(problem, arguments.o, sequence);
  one.lse = arguments.lse + lse_offset(problem, sequence);
  one.grad_o = queries_of(problem, arguments.grad_o, sequence);
  one.dq = queries_of(problem, arguments.dq, sequence);
  one.dk = of_every_head(gradients);
  one.dv = of_every_head(gradients + workspace.dk_bytes);
  return one;
}

}  // namespace tbench::kernels::sm80

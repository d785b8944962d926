// Grouped-query attention by the sm80 kernels, which have no code for it. A head of K and V together with the heads of
// Q that share it is a sequence of their batch. All heads of this sequence have the same K and V, because the stride of
// heads is 0. The kernels write dK and dV of every head of Q to the workspace, and another kernel adds them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention/common/launch.hpp"
#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels::sm80 {

constexpr int kAddGroupsThreads = 256;  // per CTA of the kernel that adds dK and dV of a group, one element each

/// Whether one launch takes all sequences of the batch: the layout has a single stride over the heads of K and V of all
/// sequences, as contiguous tensors [batch, heads, seq, head_dim] have. Otherwise each sequence has its own launches.
[[nodiscard]] bool folds_batch(const AttentionProblem& problem);

/// Returns the problem without groups that a launch computes: of `folded`, the whole batch, otherwise one sequence.
/// Returns `problem` itself if it has no groups.
[[nodiscard]] AttentionProblem ungrouped(const AttentionProblem& problem, bool folded);
[[nodiscard]] inline AttentionProblem ungrouped(const AttentionProblem& problem) {
  return ungrouped(problem, folds_batch(problem));
}

/// Byte sizes of a backward pass's workspace for groups. dK and dV, which follow each other, are contiguous [batch,
/// heads, seq_kv, head_dim] in the problem's element type.
struct GqaWorkspace {
  std::size_t of_kernels{};  // workspace of the kernels, rounded up to 256 bytes
  std::size_t dk_bytes{};    // as many of dV
  [[nodiscard]] std::size_t bytes() const { return of_kernels + 2 * dk_bytes; }
};
[[nodiscard]] GqaWorkspace gqa_workspace(const AttentionProblem& problem, std::size_t kernel_bytes);

[[nodiscard]] Launch add_groups_launch(const AttentionShape& shape);

/// Calls launch(problem, arguments) for every launch of a pass: once, or once per sequence. In a backward pass dk and
/// dv of the arguments are in the workspace, with one gradient for every head of Q.
template <class Launch>
void for_each_launch(const AttentionProblem& problem, const AttentionForward& arguments, const Launch& launch);
template <class Launch>
void for_each_launch(const AttentionProblem& problem, const AttentionBackward& arguments, std::size_t kernel_bytes,
                     const Launch& launch);

/// Enqueues the sums of dK and of dV over the heads of each group.
/// @param kernel_bytes  as for gqa_workspace()
/// @throws              cuda::CudaError
void add_gradients_of_groups(const AttentionProblem& problem, const AttentionBackward& arguments,
                             std::size_t kernel_bytes, cudaStream_t stream);

/// Returns the arguments of the launch for sequence `sequence`, or for all of them if it is 0 and the batch is folded.
[[nodiscard]] AttentionForward arguments_of_launch(const AttentionProblem& problem, const AttentionForward& arguments,
                                                   std::int64_t sequence);
[[nodiscard]] AttentionBackward arguments_of_launch(const AttentionProblem& problem, const AttentionBackward& arguments,
                                                    std::size_t kernel_bytes, std::int64_t sequence);

template <class Launch>
void for_each_launch(const AttentionProblem& problem, const AttentionForward& arguments, const Launch& launch) {
  const bool folded = folds_batch(problem);
  const AttentionProblem one = ungrouped(problem, folded);
  for (std::int64_t i = 0; i < (folded ? 1 : problem.shape.batch); ++i) {
    launch(one, arguments_of_launch(problem, arguments, i));
  }
}
template <class Launch>
void for_each_launch(const AttentionProblem& problem, const AttentionBackward& arguments, std::size_t kernel_bytes,
                     const Launch& launch) {
  const bool folded = folds_batch(problem);
  const AttentionProblem one = ungrouped(problem, folded);
  for (std::int64_t i = 0; i < (folded ? 1 : problem.shape.batch); ++i) {
    launch(one, arguments_of_launch(problem, arguments, kernel_bytes, i));
  }
}

}  // namespace tbench::kernels::sm80

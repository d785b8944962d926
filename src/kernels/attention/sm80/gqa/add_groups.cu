// The kernel that adds dK and dV over the heads of a group, in float32 and in the heads' order.
#include "kernels/attention/common/launch.cuh"
#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/gqa/ungroup.hpp"

namespace tbench::kernels::sm80 {
namespace {

template <class Element>
struct AddGroupsParams {
  const Element *dk_of_heads, *dv_of_heads;  // [batch, heads, seq_kv, head_dim] contiguous
  GlobalMatrix<Element> dk, dv;
  int kv_heads, group, head_dim;
  std::int64_t elements;  // of a head of K
};

/// One element per thread; dK in even, dV in odd blocks of the grid's x, the head of K in y, the sequence in z.
template <class Element>
__global__ void __launch_bounds__(kAddGroupsThreads)
    attention_bwd_sm80_add_groups_kernel(const __grid_constant__ AddGroupsParams<Element> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x / 2) * kAddGroupsThreads + threadIdx.x;
  if (i >= p.elements) return;
  const bool is_dk = blockIdx.x % 2 == 0;
  const std::int64_t first_head = (static_cast<std::int64_t>(blockIdx.z) * p.kv_heads + blockIdx.y) * p.group;
  const Element* const part = (is_dk ? p.dk_of_heads : p.dv_of_heads) + first_head * p.elements + i;
  float sum = 0.0f;
  for (int head = 0; head < p.group; ++head) sum += static_cast<float>(part[head * p.elements]);
  const GlobalMatrix<Element>& gradient = is_dk ? p.dk : p.dv;
  gradient.head(blockIdx.z, blockIdx.y)[i / p.head_dim * gradient.row_stride + i % p.head_dim] =
      static_cast<Element>(sum);
}

template <class Element>
void launch(const AttentionProblem& problem, const AttentionBackward& arguments, std::size_t kernel_bytes,
            cudaStream_t stream) {
  const AttentionShape& shape = problem.shape;
  const GqaWorkspace workspace = gqa_workspace(problem, kernel_bytes);
  char* const gradients = static_cast<char*>(arguments.workspace) + workspace.of_kernels;
  const AddGroupsParams<Element> parameters{
      .dk_of_heads = reinterpret_cast<const Element*>(gradients),
      .dv_of_heads = reinterpret_cast<const Element*>(gradients + workspace.dk_bytes),
      .dk = matrix_of<Element>(arguments.dk),
      .dv = matrix_of<Element>(arguments.dv),
      .kv_heads = static_cast<int>(shape.key_heads()),
      .group = static_cast<int>(shape.group()),
      .head_dim = static_cast<int>(shape.head_dim),
      .elements = shape.seq_kv * shape.head_dim};
  launch_kernel(&attention_bwd_sm80_add_groups_kernel<Element>, add_groups_launch(shape), parameters, stream);
}

}  // namespace

void add_gradients_of_groups(const AttentionProblem& problem, const AttentionBackward& arguments,
                             std::size_t kernel_bytes, cudaStream_t stream) {
  switch (problem.precision) {
    case Precision::kBf16:
      return launch<__nv_bfloat16>(problem, arguments, kernel_bytes, stream);
    case Precision::kFp16:
      return launch<__half>(problem, arguments, kernel_bytes, stream);
    case Precision::kTf32:
    case Precision::kFp32:
      return launch<float>(problem, arguments, kernel_bytes, stream);
  }
}

}  // namespace tbench::kernels::sm80

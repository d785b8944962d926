// Launches of the norms of q and k with rotary position embedding, the checks of their operands, and the sum of the
// weights' gradients.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/pdl.cuh"
#include "kernels/common/step_fault.cuh"
#include "kernels/qk_norm_rope/backward.cuh"
#include "kernels/qk_norm_rope/forward.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/qk_norm_rope.hpp"

namespace tbench::kernels {
namespace {

constexpr const char* kOp = "qk_norm_rope";

constexpr int kQkSharesThreads = 256;

struct QkNormSharesTable {
  QkNormShares layers[kQkNormsOfALaunch];
};

/// Adds up the shares of several layers. A CTA has 32 of the 2 x head_dim columns of a layer; each of its n warps adds
/// every n-th share, in order.
__global__ void __launch_bounds__(kQkSharesThreads)
    qk_norm_weight_gradient_kernel(const __grid_constant__ QkNormSharesTable table, int shares, int head_dim) {
  constexpr int kWarps = kQkSharesThreads / kWarpThreads;
  __shared__ float warps_sums[kWarps][kWarpThreads];
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads, warp = static_cast<int>(threadIdx.x) / kWarpThreads;
  const int column = static_cast<int>(blockIdx.x) * kWarpThreads + lane;
  const QkNormShares layer = table.layers[blockIdx.y];
  float sum = 0.0F;
  if (column < 2 * head_dim) {
    for (int i = warp; i < shares; i += kWarps) {
      if (injected(InjectedStepFault::kQkNormLastShare) && i + 1 == shares) continue;
      sum += layer.workspace[std::int64_t{i} * 2 * head_dim + column];
    }
  }
  warps_sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || column >= 2 * head_dim) return;
  sum = 0.0F;
  for (int i = 0; i < kWarps; ++i) sum += warps_sums[i][lane];
  (column < head_dim ? layer.dq_weight[column] : layer.dk_weight[column - head_dim]) = sum;
}

void check_shape(const QkNormRopeShape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<unsigned>::max();
  check_extent(kOp, "tokens", shape.tokens, 1, kMost);
  check_extent(kOp, "seq", shape.seq, 1, kMost);
  check_extent(kOp, "heads", shape.heads, 1, kMost / shape.tokens);
  check_extent(kOp, "kv_heads", shape.kv_heads, 1, kMost / shape.tokens);
  check_extent(kOp, "head_dim", shape.head_dim, 2,
               std::min(kQkNormMaxHeadDim, kMost / (shape.tokens * (shape.heads + shape.kv_heads))));
  if (shape.head_dim % 2 != 0) {
    throw std::invalid_argument{std::string{kOp} + ": head_dim is " + std::to_string(shape.head_dim) +
                                "; pairs turn, so it is even"};
  }
}

void check_heads(const QkNormRopeShape& shape, std::initializer_list<const QkHeads*> all) {
  for (const QkHeads* const heads : all) {
    check_pointers(kOp, {heads->data});
    check_extent(kOp, "a stride", heads->stride, (shape.heads + shape.kv_heads) * shape.head_dim,
                 std::numeric_limits<std::int64_t>::max() / shape.tokens);
    const auto pair = 2 * static_cast<std::uintptr_t>(storage_bytes(shape.precision));
    if (heads->stride % 2 != 0 || !are_aligned({heads->data}, pair)) {
      throw std::invalid_argument{std::string{kOp} + ": a token's heads do not begin at a pair's address"};
    }
  }
}

void check_constants(const QkNormRopeConstants& constants) {
  check_pointers(kOp, {constants.q_weight, constants.k_weight, constants.cos, constants.sin});
}

/// Whether rows are accessed in vectors of 16 bytes, one per thread of a warp.
bool fits_vectors(const QkNormRopeShape& shape, const QkNormRopeConstants& constants,
                  std::initializer_list<const QkHeads*> all) {
  const std::int64_t vector = kVectorBytes / storage_bytes(shape.precision);
  bool fits = shape.head_dim % vector == 0 && shape.head_dim <= vector * kWarpThreads &&
              are_aligned({constants.q_weight, constants.k_weight, constants.cos, constants.sin}, kVectorBytes);
  for (const QkHeads* const heads : all) {
    fits = fits && heads->stride % vector == 0 && are_aligned({heads->data}, kVectorBytes);
  }
  return fits;
}

/// Returns the number of CTAs of the backward pass, which is the same with and without vectors: two per SM, or fewer if
/// a warp would have no row of q.
std::int64_t backward_blocks(const QkNormRopeShape& shape) {
  int device{}, multiprocessors{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return std::min(ceil_div(shape.tokens * shape.heads, kQkBackwardWarps), std::int64_t{2} * multiprocessors);
}

template <int kValue>
using Number = std::integral_constant<int, kValue>;

/// Calls `use` with the storage type, the elements of a vector, and the vectors of a thread.
template <class Use>
void with_width(Precision precision, bool in_vectors, const Use& use) {
  constexpr int kPair = 2, kPairsOfAThread = kQkNormMaxHeadDim / kPair / kWarpThreads;
  with_storage_type(kOp, precision, [&](auto type) {
    constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(typename decltype(type)::Type));
    in_vectors ? use(type, Number<kVector>{}, Number<1>{}) : use(type, Number<kPair>{}, Number<kPairsOfAThread>{});
  });
}

}  // namespace

std::int64_t qk_norm_workspace_bytes(const QkNormRopeShape& shape) {
  check_shape(shape);
  return backward_blocks(shape) * 2 * shape.head_dim * std::int64_t{sizeof(float)};
}

void qk_norm_rope_forward(const QkNormRopeShape& shape, const QkNormRopeForward& tensors, cudaStream_t stream) {
  check_shape(shape);
  check_constants(tensors.constants);
  check_heads(shape, {&tensors.x, &tensors.y});
  const bool in_vectors = fits_vectors(shape, tensors.constants, {&tensors.x, &tensors.y});
  with_width(shape.precision, in_vectors, [&](auto type, auto width, auto vectors) {
    using Element = typename decltype(type)::Type;
    const HeadExtents extents = head_extents(shape, decltype(width)::value);
    const std::int64_t threads = shape.tokens * (shape.heads + shape.kv_heads) * extents.lanes;
    upload_step_fault(stream);
    // The kernel follows a matrix product, which lets no kernel start early.
    qk_norm_rope_forward_kernel<Element, decltype(width)::value, decltype(vectors)::value>
        <<<static_cast<unsigned>(ceil_div(threads, kQkForwardThreads)), kQkForwardThreads, 0, stream>>>(tensors,
                                                                                                        extents);
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void qk_norm_rope_backward(const QkNormRopeShape& shape, const QkNormRopeBackward& tensors, cudaStream_t stream) {
  check_shape(shape);
  check_constants(tensors.constants);
  check_heads(shape, {&tensors.x, &tensors.dy, &tensors.dx});
  check_pointers(kOp, {tensors.workspace});
  const bool in_vectors = fits_vectors(shape, tensors.constants, {&tensors.x, &tensors.dy, &tensors.dx});
  const auto blocks = static_cast<unsigned>(backward_blocks(shape));
  with_width(shape.precision, in_vectors, [&](auto type, auto width, auto vectors) {
    using Element = typename decltype(type)::Type;
    const HeadExtents extents = head_extents(shape, decltype(width)::value);
    upload_step_fault(stream);
    // Attention's last kernel precedes this kernel and lets it start early.
    launch_pdl(&qk_norm_rope_backward_kernel<Element, decltype(width)::value, decltype(vectors)::value>, blocks,
               kQkBackwardThreads, 0, stream, tensors, extents);
  });
}

void qk_norm_weight_gradients(const QkNormRopeShape& shape, std::span<const QkNormShares> layers, cudaStream_t stream) {
  check_shape(shape);
  for (const QkNormShares& layer : layers) check_pointers(kOp, {layer.workspace, layer.dq_weight, layer.dk_weight});
  if (layers.empty()) return;
  const auto shares = static_cast<int>(backward_blocks(shape));
  while (!layers.empty()) {
    QkNormSharesTable table{};
    const std::size_t count = std::min<std::size_t>(layers.size(), kQkNormsOfALaunch);
    std::ranges::copy(layers.first(count), table.layers);
    const dim3 grid{static_cast<unsigned>(ceil_div(2 * shape.head_dim, kWarpThreads)), static_cast<unsigned>(count)};
    upload_step_fault(stream);
    qk_norm_weight_gradient_kernel<<<grid, kQkSharesThreads, 0, stream>>>(table, shares,
                                                                          static_cast<int>(shape.head_dim));
    TBENCH_CUDA_CHECK(cudaGetLastError());
    layers = layers.subspan(count);
  }
}

}  // namespace tbench::kernels

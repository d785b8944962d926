// A block has a token's row, a thread some of its vectors. Backward adds whole vectors where the GPU can (compute
// capability 9.0), so that a row takes a quarter of the atomic operations.
#include <cmath>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/embedding.hpp"

namespace tbench::kernels {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMost = std::int64_t{1} << 40;

__device__ __forceinline__ bool is_in(std::int64_t token, std::int64_t vocab_size) {
  return token >= 0 && token < vocab_size;
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    embedding_forward_kernel(EmbeddingShape shape, const std::int64_t* tokens, const float* table, float* rows) {
  const std::int64_t token = tokens[blockIdx.x];
  float* const row = rows + blockIdx.x * shape.width;
  for (std::int64_t i = std::int64_t{threadIdx.x} * kWidth; i < shape.width; i += kThreads * kWidth) {
    float values[kWidth];
    if (is_in(token, shape.vocab_size)) {
      unpack<float, kWidth>(load_cached<kWidth>(table + token * shape.width + i), values);
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) values[j] = NAN;
    }
    store<kWidth>(row + i, values);
  }
}

__device__ __forceinline__ void add_to(float* to, const float (&values)[1]) { atomicAdd(to, values[0]); }

__device__ __forceinline__ void add_to(float* to, const float (&values)[4]) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to), float4{values[0], values[1], values[2], values[3]});
#else
#pragma unroll
  for (int j = 0; j < 4; ++j) atomicAdd(to + j, values[j]);
#endif
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    embedding_backward_kernel(EmbeddingShape shape, const std::int64_t* tokens, const float* drows, float* dtable) {
  const std::int64_t token = tokens[blockIdx.x];
  if (!is_in(token, shape.vocab_size)) return;
  const float* const row = drows + blockIdx.x * shape.width;
  for (std::int64_t i = std::int64_t{threadIdx.x} * kWidth; i < shape.width; i += kThreads * kWidth) {
    float values[kWidth];
    unpack<float, kWidth>(load_once<kWidth>(row + i), values);
    add_to(dtable + token * shape.width + i, values);
  }
}

void check_embedding(const EmbeddingShape& shape) {
  check_extent("embedding", "the number of tokens", shape.tokens, 1, std::int64_t{(1U << 31U) - 1});
  check_extent("embedding", "the width", shape.width, 1, kMost / shape.tokens);
  check_extent("embedding", "the vocabulary", shape.vocab_size, 1, kMost / shape.width);
}

constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(float));

bool fits_vectors(const EmbeddingShape& shape, std::initializer_list<const void*> pointers) {
  return shape.width % kVector == 0 && are_aligned(pointers, kVectorBytes);
}

}  // namespace

void embedding_forward(const EmbeddingShape& shape, const std::int64_t* tokens, const float* table, float* rows,
                       cudaStream_t stream) {
  check_embedding(shape);
  check_pointers("embedding, forward", {tokens, table, rows});
  const auto kernel =
      fits_vectors(shape, {table, rows}) ? &embedding_forward_kernel<kVector> : &embedding_forward_kernel<1>;
  kernel<<<static_cast<unsigned>(shape.tokens), kThreads, 0, stream>>>(shape, tokens, table, rows);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void embedding_backward(const EmbeddingShape& shape, const std::int64_t* tokens, const float* drows, float* dtable,
                        cudaStream_t stream) {
  check_embedding(shape);
  check_pointers("embedding, backward", {tokens, drows, dtable});
  const auto bytes = static_cast<std::size_t>(shape.vocab_size * shape.width) * sizeof(float);
  TBENCH_CUDA_CHECK(cudaMemsetAsync(dtable, 0, bytes, stream));
  const auto kernel =
      fits_vectors(shape, {drows, dtable}) ? &embedding_backward_kernel<kVector> : &embedding_backward_kernel<1>;
  kernel<<<static_cast<unsigned>(shape.tokens), kThreads, 0, stream>>>(shape, tokens, drows, dtable);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tbench::kernels

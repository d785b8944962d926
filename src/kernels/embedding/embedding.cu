// A CTA has a token's row, and a thread has some vectors of the row. From compute capability 9.0 on, the backward pass
// adds whole vectors, so that a row takes a quarter of the atomic operations.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "kernels/common/dispatch.hpp"
#include "kernels/common/step_fault.cuh"
#include "kernels/common/vectors.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/embedding.hpp"

namespace tbench::kernels {
namespace {

constexpr int kMaxThreads = 256;
constexpr std::int64_t kMost = std::int64_t{1} << 40;

__device__ __forceinline__ bool is_in(std::int64_t token, std::int64_t vocab_size) {
  return token >= 0 && token < vocab_size;
}

template <class Element, int kWidth>
__global__ void __launch_bounds__(kMaxThreads)
    embedding_forward_kernel(EmbeddingShape shape, const std::int64_t* tokens, const Element* table, Element* rows) {
  const std::int64_t token = tokens[blockIdx.x];
  Element* const row = rows + blockIdx.x * shape.width;
  for (std::int64_t i = std::int64_t{threadIdx.x} * kWidth; i < shape.width; i += blockDim.x * kWidth) {
    if (injected(InjectedStepFault::kEmbeddingLastVector) && i + kWidth >= shape.width) continue;
    const bool is_next = injected(InjectedStepFault::kEmbeddingRow) && i == 0 && token + 1 < shape.vocab_size;
    float values[kWidth];
    if (is_in(token, shape.vocab_size)) {
      unpack<Element, kWidth>(load_cached<kWidth>(table + (is_next ? token + 1 : token) * shape.width + i), values);
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) values[j] = NAN;
    }
    store<kWidth>(row + i, values);
  }
}

/// Adds a vector to memory atomically: 16 bytes in one operation if the GPU supports it, otherwise pair by pair or
/// element by element.
__device__ __forceinline__ void add_to(float* to, std::uint32_t word) { atomicAdd(to, __uint_as_float(word)); }
__device__ __forceinline__ void add_to(__half* to, std::uint16_t word) { atomicAdd(to, __ushort_as_half(word)); }
__device__ __forceinline__ void add_to(__nv_bfloat16* to, std::uint16_t word) {
  atomicAdd(to, __ushort_as_bfloat16(word));
}
template <class Element>
__device__ __forceinline__ void add_to(Element* to, const uint4& word) {
#if __CUDA_ARCH__ >= 900
  if constexpr (std::is_same_v<Element, float>) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(word.x), "r"(word.y), "r"(word.z),
                 "r"(word.w)
                 : "memory");
  } else if constexpr (std::is_same_v<Element, __half>) {
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(word.x), "r"(word.y),
                 "r"(word.z), "r"(word.w)
                 : "memory");
  } else {
    asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};\n" ::"l"(to), "r"(word.x), "r"(word.y),
                 "r"(word.z), "r"(word.w)
                 : "memory");
  }
#else
  Element values[kVectorBytes / sizeof(Element)];
  memcpy(values, &word, sizeof(word));
#pragma unroll
  for (int j = 0; j < kVectorBytes / static_cast<int>(sizeof(Element)); ++j) atomicAdd(to + j, values[j]);
#endif
}

template <class Element, int kWidth>
__global__ void __launch_bounds__(kMaxThreads)
    embedding_backward_kernel(EmbeddingShape shape, const std::int64_t* tokens, const Element* drows, Element* dtable) {
  const std::int64_t token = tokens[blockIdx.x];
  if (!is_in(token, shape.vocab_size)) return;
  const Element* const row = drows + blockIdx.x * shape.width;
  for (std::int64_t i = std::int64_t{threadIdx.x} * kWidth; i < shape.width; i += blockDim.x * kWidth) {
    const std::int64_t word = injected(InjectedStepFault::kEmbeddingToken) && token > 0 ? token - 1 : token;
    Element* const to = dtable + word * shape.width + i;
    if (injected(InjectedStepFault::kEmbeddingStored)) {
      *reinterpret_cast<Word<Element, kWidth>*>(to) = load_once<kWidth>(row + i);
    } else {
      add_to(to, load_once<kWidth>(row + i));
    }
  }
}

void check_embedding(const EmbeddingShape& shape) {
  check_extent("embedding", "the number of tokens", shape.tokens, 1, std::int64_t{(1U << 31U) - 1});
  check_extent("embedding", "the width", shape.width, 1, kMost / shape.tokens);
  check_extent("embedding", "the vocabulary", shape.vocab_size, 1, kMost / shape.width);
}

bool fits_vectors(const EmbeddingShape& shape, std::initializer_list<const void*> pointers) {
  return shape.width * storage_bytes(shape.precision) % kVectorBytes == 0 && are_aligned(pointers, kVectorBytes);
}

/// Returns the number of threads for the vectors of a row, in whole warps.
unsigned threads_of_a_row(const EmbeddingShape& shape, std::int64_t width_of_vector) {
  const std::int64_t vectors = ceil_div(shape.width, width_of_vector);
  return static_cast<unsigned>(std::min<std::int64_t>(ceil_div(vectors, kWarpThreads) * kWarpThreads, kMaxThreads));
}

/// Elements per vector.
template <class Element>
constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(Element));

void clear_table(const EmbeddingShape& shape, void* dtable, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(shape.vocab_size * shape.width * storage_bytes(shape.precision));
  TBENCH_CUDA_CHECK(cudaMemsetAsync(dtable, 0, bytes, stream));
}

void add_rows(const EmbeddingShape& shape, const std::int64_t* tokens, const void* drows, void* dtable,
              cudaStream_t stream) {
  with_storage_type("embedding", shape.precision, [&](auto type) {
    using Element = typename decltype(type)::Type;
    upload_step_fault(stream);
    const bool in_vectors = fits_vectors(shape, {drows, dtable});
    const auto kernel =
        in_vectors ? &embedding_backward_kernel<Element, kVector<Element>> : &embedding_backward_kernel<Element, 1>;
    kernel<<<static_cast<unsigned>(shape.tokens), threads_of_a_row(shape, in_vectors ? kVector<Element> : 1), 0,
             stream>>>(shape, tokens, static_cast<const Element*>(drows), static_cast<Element*>(dtable));
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void embedding_forward(const EmbeddingShape& shape, const std::int64_t* tokens, const void* table, void* rows,
                       cudaStream_t stream) {
  check_embedding(shape);
  check_pointers("embedding, forward", {tokens, table, rows});
  with_storage_type("embedding", shape.precision, [&](auto type) {
    using Element = typename decltype(type)::Type;
    upload_step_fault(stream);
    const bool in_vectors = fits_vectors(shape, {table, rows});
    const auto kernel =
        in_vectors ? &embedding_forward_kernel<Element, kVector<Element>> : &embedding_forward_kernel<Element, 1>;
    kernel<<<static_cast<unsigned>(shape.tokens), threads_of_a_row(shape, in_vectors ? kVector<Element> : 1), 0,
             stream>>>(shape, tokens, static_cast<const Element*>(table), static_cast<Element*>(rows));
  });
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void embedding_backward(const EmbeddingShape& shape, const std::int64_t* tokens, const void* drows, void* dtable,
                        cudaStream_t stream) {
  check_embedding(shape);
  check_pointers("embedding, backward", {tokens, drows, dtable});
  if (!planted_in_launch(InjectedStepFault::kEmbeddingNotCleared)) clear_table(shape, dtable, stream);
  add_rows(shape, tokens, drows, dtable, stream);
}

void embedding_backward_add(const EmbeddingShape& shape, const std::int64_t* tokens, const void* drows, void* dtable,
                            cudaStream_t stream) {
  check_embedding(shape);
  check_pointers("embedding, backward", {tokens, drows, dtable});
  if (planted_in_launch(InjectedStepFault::kEmbeddingCleared)) clear_table(shape, dtable, stream);
  if (!planted_in_launch(InjectedStepFault::kEmbeddingNotAdded)) add_rows(shape, tokens, drows, dtable, stream);
}

}  // namespace tbench::kernels

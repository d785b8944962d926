// Vectors of elements of the three storage types, and sums over the threads of a row, for all memory-bound kernels. A
// vector is loaded as one word; arithmetic is in float32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace tbench::kernels {

inline constexpr int kWarpThreads = 32;
inline constexpr int kVectorBytes = 16;  // the widest access per thread

template <int kBytes>
struct VectorWord;
template <>
struct VectorWord<16> {
  using Type = uint4;
};
template <>
struct VectorWord<8> {
  using Type = uint2;
};
template <>
struct VectorWord<4> {
  using Type = std::uint32_t;
};
template <>
struct VectorWord<2> {
  using Type = std::uint16_t;
};

/// One memory word of `kWidth` elements.
template <class Element, int kWidth>
using Word = typename VectorWord<kWidth* static_cast<int>(sizeof(Element))>::Type;

__host__ __device__ __forceinline__ float to_float(float x) { return x; }
__host__ __device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__host__ __device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class Element>
__host__ __device__ __forceinline__ Element from_float(float x) {
  if constexpr (sizeof(Element) == sizeof(float)) {
    return x;
  } else {
    return static_cast<Element>(x);  // rounds to nearest, ties to even
  }
}

/// Returns x rounded to the precision of Element.
template <class Element>
__device__ __forceinline__ float rounded(float x) {
  return to_float(from_float<Element>(x));
}

/// Loads data that is read only once; L2 evicts its lines first.
template <int kWidth, class Element>
__device__ __forceinline__ Word<Element, kWidth> load_once(const Element* from) {
  return __ldcs(reinterpret_cast<const Word<Element, kWidth>*>(from));
}

/// Loads data that other threads read, too.
template <int kWidth, class Element>
__device__ __forceinline__ Word<Element, kWidth> load_cached(const Element* from) {
  return __ldg(reinterpret_cast<const Word<Element, kWidth>*>(from));
}

template <class Element, int kWidth>
__device__ __forceinline__ void unpack(const Word<Element, kWidth>& word, float (&values)[kWidth]) {
  Element elements[kWidth];
  static_assert(sizeof(elements) == sizeof(word));
  memcpy(elements, &word, sizeof(word));
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] = to_float(elements[i]);
}

template <class Element, int kWidth>
__device__ __forceinline__ Word<Element, kWidth> packed(const float (&values)[kWidth]) {
  Element elements[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) elements[i] = from_float<Element>(values[i]);
  Word<Element, kWidth> word;
  memcpy(&word, elements, sizeof(word));
  return word;
}

template <int kWidth, class Element>
__device__ __forceinline__ void store(Element* to, const float (&values)[kWidth]) {
  *reinterpret_cast<Word<Element, kWidth>*>(to) = packed<Element, kWidth>(values);
}

/// Hides from the compiler that a word keeps its value. The compiler then computes dependent values again instead of
/// keeping them in registers.
__device__ __forceinline__ void opaque(std::uint16_t& word) { asm volatile("" : "+h"(word)); }
__device__ __forceinline__ void opaque(std::uint32_t& word) { asm volatile("" : "+r"(word)); }
__device__ __forceinline__ void opaque(uint2& word) {
  opaque(word.x);
  opaque(word.y);
}
__device__ __forceinline__ void opaque(uint4& word) {
  opaque(word.x);
  opaque(word.y);
  opaque(word.z);
  opaque(word.w);
}

/// Returns the sum over the warp in each of its threads.
template <class Number>
__device__ __forceinline__ Number warp_sum(Number value) {
#pragma unroll
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, distance);
  }
  return value;
}

/// Waits for the `threads` threads that share the named barrier `number` (1 to 15; 0 is __syncthreads()).
__device__ __forceinline__ void named_barrier_sync(int number, int threads) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}

}  // namespace tbench::kernels

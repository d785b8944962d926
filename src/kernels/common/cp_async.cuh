// Asynchronous copies to shared memory (cp.async). A thread waits only for its own copies.
#pragma once

#include <cstdint>

namespace tbench::kernels {

/// Copies one vector of 4, 8 or 16 bytes, aligned to its size.
template <class Vector, class Element>
__device__ __forceinline__ void cp_async(Vector* to, const Element* from) {
  constexpr int kBytes = sizeof(Vector);
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "what cp.async copies");
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {  // bypasses L1
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(address), "l"(from), "n"(kBytes) : "memory");
  }
}

/// Ends a group of copies, which may be empty.
__device__ __forceinline__ void cp_async_commit_group() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

/// Waits until at most the `kSets` latest groups of the calling thread are in flight.
template <int kSets>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kSets) : "memory");
}

}  // namespace tbench::kernels

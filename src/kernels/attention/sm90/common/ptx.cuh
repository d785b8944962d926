// Thin wrappers of Hopper's PTX instructions: mbarriers, TMA copies and setmaxnreg. Addresses of shared memory are
// 32-bit integers. For wgmma see sm90/common/wgmma.cuh.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/attention/sm90/common/swizzle.hpp"
#include "kernels/common/pdl.cuh"

namespace tbench::kernels::sm90 {

constexpr int kWarpGroupThreads = 128;
constexpr int kWarpGroupWarps = 4;

/// Lowers or raises the number of registers per thread of the warpgroup (setmaxnreg). All four warps call it; the count
/// is a multiple of 8.
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}

/// Initialises an mbarrier. One thread calls it before any thread uses the barrier; fence_mbarrier_init() and
/// __syncthreads() publish it.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
/// Arrives, and makes the phase also wait for `bytes` bytes of asynchronous copies.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Waits until the phase with this parity has ended. A new barrier is in phase 0, and a wait for parity 1 returns at
/// once.
__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Waits like mbarrier_wait(), but returns after 1,000 attempts even if the phase has not ended.
__device__ __forceinline__ void mbarrier_wait_bounded(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t over = 0;
  for (int n = 0; n < 1000 && over == 0; ++n) {
    asm volatile(
        "{\n"
        ".reg .pred is_over;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 is_over, [%1], %2;\n"
        "selp.u32 %0, 1, 0, is_over;\n"
        "}\n"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

/// Orders this thread's ordinary writes to shared memory before later reads of them by TMA and wgmma.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }

__device__ __forceinline__ void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(reinterpret_cast<std::uint64_t>(&map)) : "memory");
}

/// L2 eviction priority of the lines that a copy reads.
enum class CacheHint { kEvictFirst, kEvictLast };
template <CacheHint kReuse>
__device__ __forceinline__ std::uint64_t l2_cache_hint() {
  std::uint64_t policy;
  if constexpr (kReuse == CacheHint::kEvictFirst) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0;\n" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_last.b64 %0;\n" : "=l"(policy));
  }
  return policy;
}

/// Returns the same value as l2_cache_hint(), by an instruction that the compiler does not hoist. For code that has no
/// register left to keep the hint in.
template <CacheHint kReuse>
__device__ __forceinline__ std::uint64_t cache_policy_here() {
  static_assert(kReuse == CacheHint::kEvictFirst);
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;\n" : "=l"(policy));
  return policy;
}

/// Coordinates of a box in the tensor of a descriptor by make_tma_descriptor().
struct TmaCoord {
  int row, head, batch;
  int column = 0;
};

/// Starts a TMA copy of a box to shared memory; one thread calls it. Rows past the end of the tensor are filled with
/// zeros. `barrier` counts the bytes.
__device__ __forceinline__ void tma_load(std::uint32_t destination, const CUtensorMap& map, TmaCoord place,
                                         std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;\n" ::"r"(destination),
      "l"(reinterpret_cast<std::uint64_t>(&map)), "r"(place.column), "r"(place.row), "r"(0), "r"(place.head),
      "r"(place.batch), "r"(barrier), "l"(policy)
      : "memory");
}
/// Starts an asynchronous copy of contiguous bytes to shared memory. The addresses and the size are multiples of 16.
__device__ __forceinline__ void bulk_load(std::uint32_t destination, const void* source, int bytes,
                                          std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void bulk_load(std::uint32_t destination, const void* source, int bytes,
                                          std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;\n" ::
          "r"(destination),
      "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}
/// Starts a TMA copy of a box from shared memory to global memory. Rows past the end of the tensor are not written.
__device__ __forceinline__ void tma_store(const CUtensorMap& map, TmaCoord place, std::uint32_t source) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];\n" ::"l"(
                   reinterpret_cast<std::uint64_t>(&map)),
               "r"(place.column), "r"(place.row), "r"(0), "r"(place.head), "r"(place.batch), "r"(source)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
}
/// Loads a tile of `kHeadDim` columns as one box or, if the panel width does not divide the columns, as one box per
/// panel. Panels are `panel_bytes` apart in shared memory.
template <int kHeadDim, int kPanel = panel_columns(kHeadDim)>
__device__ __forceinline__ void tma_load_tile(std::uint32_t destination, int panel_bytes, const CUtensorMap& map,
                                              TmaCoord place, std::uint32_t barrier, std::uint64_t policy) {
  constexpr int kBoxes = kHeadDim % kPanel == 0 ? 1 : panels(kHeadDim);
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) {
    place.column = i * kPanel;
    tma_load(destination + i * panel_bytes, map, place, barrier, policy);
  }
}
template <int kHeadDim>
__device__ __forceinline__ void tma_store_tile(const CUtensorMap& map, TmaCoord place, std::uint32_t source,
                                               int panel_bytes) {
  constexpr int kPanel = panel_columns(kHeadDim), kBoxes = kHeadDim % kPanel == 0 ? 1 : panels(kHeadDim);
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) {
    place.column = i * kPanel;
    tma_store(map, place, source + i * panel_bytes);
  }
}
/// Waits until this thread's bulk stores have read their shared memory, which may then be written again.
__device__ __forceinline__ void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;\n" ::: "memory");
}

/// Stores a 32-bit word to shared memory.
__device__ __forceinline__ void store_shared(std::uint32_t address, int value) {
  asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(address), "r"(value) : "memory");
}
/// Stores 16 zero bytes to shared memory.
__device__ __forceinline__ void store_zeros(std::uint32_t address) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};\n" ::"r"(address), "r"(0) : "memory");
}
__device__ __forceinline__ int load_shared(std::uint32_t address) {
  int value;
  asm volatile("ld.shared.b32 %0, [%1];\n" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ float2 load_shared_pair(std::uint32_t address) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\n" : "=f"(pair.x), "=f"(pair.y) : "r"(address) : "memory");
  return pair;
}

/// Stores four floats to shared memory.
__device__ __forceinline__ void store_shared_four(std::uint32_t address, float4 four) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"r"(address), "f"(four.x), "f"(four.y), "f"(four.z),
               "f"(four.w)
               : "memory");
}
__device__ __forceinline__ float4 load_shared_four(std::uint32_t address) {
  float4 four;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(address)
               : "memory");
  return four;
}

/// Copies a value by an instruction that the compiler does not move. Used before wgmma products, because ptxas requires
/// the initial accumulators to be in their registers by then.
__device__ __forceinline__ float opaque(float value) {
  float copy;
  asm volatile("mov.b32 %0, %1;\n" : "=f"(copy) : "f"(value));
  return copy;
}
/// Copies a value, so that the compiler cannot compute dependent values earlier and keep them in registers.
__device__ __forceinline__ int opaque(int value) {
  int copy;
  asm volatile("mov.b32 %0, %1;\n" : "=r"(copy) : "r"(value));
  return copy;
}
/// Returns the thread's index in its CTA and, below, the lane's index in its warp. Each call reads it again, by an
/// instruction that the compiler does not move.
__device__ __forceinline__ int opaque_thread_index() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;\n" : "=r"(thread));
  return thread;
}
__device__ __forceinline__ int read_lane() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;\n" : "=r"(lane));
  return lane;
}

/// Adds four floats to four contiguous floats of global memory, each atomically. The address is a multiple of 16.
__device__ __forceinline__ void red_add_v4(float* destination, const float* values) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(destination), "f"(values[0]),
               "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
}

/// Loads four floats without the L1 cache, so that the thread sees the results of its own atomic additions.
__device__ __forceinline__ float4 load_from_global(const float* source) {
  float4 four;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "l"(source)
               : "memory");
  return four;
}
__device__ __forceinline__ void store_to_global(float* destination, const float* values) {
  *reinterpret_cast<float4*>(destination) = {values[0], values[1], values[2], values[3]};
}

/// Loads four 8x8 matrices of 16-bit elements. Lane i passes the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t* r, std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(address), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
/// Stores the transposes of four 8x8 matrices.
__device__ __forceinline__ void store_transposed(std::uint32_t address, const std::uint32_t* r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(address), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

}  // namespace tbench::kernels::sm90

// Warpgroup products (wgmma): D [64, N] in registers, A [64, 16] from shared memory or registers, B from shared memory.
// Layouts: PTX ISA, "Asynchronous warpgroup-level matrix instructions". Products are asynchronous: between
// wgmma_fence() and wgmma_wait_group() no code may touch the registers of products in flight.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/attention/sm90/common/swizzle.hpp"

namespace tbench::kernels::sm90 {

/// Bytes of a row of the widest panel. A tile in shared memory is a sequence of panels [rows, kSwizzle128Cols] of
/// 16-bit elements, or of narrower panels. Within a row, 16-byte vectors are permuted by swizzled_vector(). Panels
/// start at multiples of 1,024 bytes.
constexpr int kPanelRowBytes = kSwizzle128Cols * 2;

/// A wgmma descriptor of a matrix in shared memory. at() returns the descriptor of the matrix that starts `bytes`
/// later.
struct SmemDescriptor {
  std::uint64_t bits;
  __device__ __forceinline__ SmemDescriptor at(int bytes) const {
    return {bits + static_cast<std::uint64_t>(bytes / 16)};
  }
};

/// Makes the descriptor of panels whose inner extent is the columns ("K-major") or the rows ("MN-major"), `panel_bytes`
/// apart. Bits 0-13: address. Bits 16-29: distance between panels, ignored if K-major, because a product's operand then
/// lies in one panel. Bits 32-45: distance between groups of eight rows. All three are in units of 16 bytes. Bits
/// 62-63: the swizzle, 1 for 128 bytes, 2 for 64, 3 for 32.
template <int kRowBytes = kPanelRowBytes>
__device__ __forceinline__ SmemDescriptor make_smem_descriptor(std::uint32_t address, int panel_bytes = 16) {
  constexpr std::uint64_t kSwizzle = std::uint64_t{kRowBytes == kPanelRowBytes       ? 1
                                                   : kRowBytes == kSwizzle64Cols * 2 ? 2
                                                                                     : 3}
                                     << 62;
  constexpr std::uint64_t kRowGroups = std::uint64_t{8 * kRowBytes / 16} << 32;
  return {kSwizzle | kRowGroups | static_cast<std::uint64_t>(panel_bytes / 16) << 16 | address / 16};
}

/// Orders earlier accesses to the registers of the products that follow; called before each group.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
/// Makes one group of the products issued since the last commit.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

/// Waits until at most `kPending` groups are in flight, and keeps the compiler from touching `results` earlier.
template <int kPending, int kCount>
__device__ __forceinline__ void wgmma_wait_group(float (&results)[kCount]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(results[i])::"memory");
}

#define TBENCH_REGISTERS_8(d, i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define TBENCH_REGISTERS_32(d, i) \
  TBENCH_REGISTERS_8(d, i), TBENCH_REGISTERS_8(d, i + 8), TBENCH_REGISTERS_8(d, i + 16), TBENCH_REGISTERS_8(d, i + 24)
#define TBENCH_NAMES_0_15 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TBENCH_NAMES_0_31                                                                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define TBENCH_NAMES_32_39 "%32, %33, %34, %35, %36, %37, %38, %39"
#define TBENCH_NAMES_32_63                                                                                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TBENCH_NAMES_64_127                                                                 \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, "   \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, "        \
  "%97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/// Products of one element type with D in float32. They compute D = A B^T, or D += A B^T if `add`, with A [64, 16] and
/// B [N, 16], both K-major. With `kTransposed` they compute A B, where B is [16, N]. N is twice the number of results
/// per thread.
///
/// from_shared() takes A from shared memory; from_registers() takes A's fragments from registers.
template <class Element>
struct Wgmma;

#define TBENCH_WGMMA(Element, type)                                                                                    \
  template <>                                                                                                          \
  struct Wgmma<Element> {                                                                                              \
    template <bool kTransposed = false>                                                                                \
    __device__ static __forceinline__ void from_shared(float (&d)[64], SmemDescriptor a, SmemDescriptor b, bool add) { \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_63  \
          "}, %64, %65, add, 1, 1, 0, %67;\n}\n"                                                                       \
          : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_32(d, 32)                                                      \
          : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(add)), "n"(kTransposed ? 1 : 0));                           \
    }                                                                                                                  \
    template <bool kTransposed = false>                                                                                \
    __device__ static __forceinline__ void from_shared(float (&d)[32], SmemDescriptor a, SmemDescriptor b, bool add) { \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" TBENCH_NAMES_0_31                           \
          "}, %32, %33, add, 1, 1, 0, %35;\n}\n"                                                                       \
          : TBENCH_REGISTERS_32(d, 0)                                                                                  \
          : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(add)), "n"(kTransposed ? 1 : 0));                           \
    }                                                                                                                  \
    template <bool kTransposed = false>                                                                                \
    __device__ static __forceinline__ void from_shared(float (&d)[40], SmemDescriptor a, SmemDescriptor b, bool add) { \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %42, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n80k16.f32." type "." type " {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_39   \
          "}, %40, %41, add, 1, 1, 0, %43;\n}\n"                                                                       \
          : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_8(d, 32)                                                       \
          : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(add)), "n"(kTransposed ? 1 : 0));                           \
    }                                                                                                                  \
    template <bool kTransposed>                                                                                        \
    __device__ static __forceinline__ void from_registers(float (&d)[128], const std::uint32_t* a, SmemDescriptor b,   \
                                                          bool add) {                                                  \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %133, 0;\n"                                                            \
          "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_63  \
          ", " TBENCH_NAMES_64_127 "}, {%128, %129, %130, %131}, %132, add, 1, 1, %134;\n}\n"                          \
          : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_32(d, 32), TBENCH_REGISTERS_32(d, 64),                         \
            TBENCH_REGISTERS_32(d, 96)                                                                                 \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)),                       \
            "n"(kTransposed ? 1 : 0));                                                                                 \
    }                                                                                                                  \
    template <bool kTransposed>                                                                                        \
    __device__ static __forceinline__ void from_registers(float (&d)[64], const std::uint32_t* a, SmemDescriptor b,    \
                                                          bool add) {                                                  \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_63  \
          "}, {%64, %65, %66, %67}, %68, add, 1, 1, %70;\n}\n"                                                         \
          : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_32(d, 32)                                                      \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)),                       \
            "n"(kTransposed ? 1 : 0));                                                                                 \
    }                                                                                                                  \
    template <bool kTransposed>                                                                                        \
    __device__ static __forceinline__ void from_registers(float (&d)[40], const std::uint32_t* a, SmemDescriptor b,    \
                                                          bool add) {                                                  \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %45, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n80k16.f32." type "." type " {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_39   \
          "}, {%40, %41, %42, %43}, %44, add, 1, 1, %46;\n}\n"                                                         \
          : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_8(d, 32)                                                       \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)),                       \
            "n"(kTransposed ? 1 : 0));                                                                                 \
    }                                                                                                                  \
    template <bool kTransposed>                                                                                        \
    __device__ static __forceinline__ void from_registers(float (&d)[32], const std::uint32_t* a, SmemDescriptor b,    \
                                                          bool add) {                                                  \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" TBENCH_NAMES_0_31                           \
          "}, {%32, %33, %34, %35}, %36, add, 1, 1, %38;\n}\n"                                                         \
          : TBENCH_REGISTERS_32(d, 0)                                                                                  \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)),                       \
            "n"(kTransposed ? 1 : 0));                                                                                 \
    }                                                                                                                  \
    template <bool kTransposed>                                                                                        \
    __device__ static __forceinline__ void from_registers(float (&d)[16], const std::uint32_t* a, SmemDescriptor b,    \
                                                          bool add) {                                                  \
      asm volatile(                                                                                                    \
          "{\n.reg .pred add;\nsetp.ne.b32 add, %21, 0;\n"                                                             \
          "wgmma.mma_async.sync.aligned.m64n32k16.f32." type "." type " {" TBENCH_NAMES_0_15                           \
          "}, {%16, %17, %18, %19}, %20, add, 1, 1, %22;\n}\n"                                                         \
          : TBENCH_REGISTERS_8(d, 0), TBENCH_REGISTERS_8(d, 8)                                                         \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)),                       \
            "n"(kTransposed ? 1 : 0));                                                                                 \
    }                                                                                                                  \
  };

TBENCH_WGMMA(__nv_bfloat16, "bf16")
TBENCH_WGMMA(__half, "f16")

#undef TBENCH_WGMMA
#undef TBENCH_NAMES_64_127
#undef TBENCH_NAMES_32_63
#undef TBENCH_NAMES_32_39
#undef TBENCH_NAMES_0_31
#undef TBENCH_NAMES_0_15
#undef TBENCH_REGISTERS_32
#undef TBENCH_REGISTERS_8

}  // namespace tbench::kernels::sm90

// Warpgroup products (wgmma) of TF32 operands: D [64, N] += A [64, 8] B^T, with B [N, 8] in shared memory. B is
// "K-major", and so is A if it is in shared memory. For TF32 wgmma supports no other layout. If a matrix's rows are the
// inner extent, as the rows of V are in O = P V, shared memory therefore has to hold the transpose. Descriptors and
// waits are in sm90/common/wgmma.cuh. wgmma reads the 19 high bits of each float32 of A and B.
#pragma once

#include "kernels/attention/sm90/common/wgmma.cuh"
#include "kernels/attention/sm90_tf32/common/sm90_names.hpp"

namespace tbench::kernels::sm90_tf32 {

#define TBENCH_REGISTERS_8(d, i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define TBENCH_REGISTERS_32(d, i) \
  TBENCH_REGISTERS_8(d, i), TBENCH_REGISTERS_8(d, i + 8), TBENCH_REGISTERS_8(d, i + 16), TBENCH_REGISTERS_8(d, i + 24)
#define TBENCH_NAMES_0_15 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TBENCH_NAMES_0_31                                                                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define TBENCH_NAMES_32_63                                                                                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// Computes D = A B^T, or D += A B^T if `add`. N is twice the number of results per thread. from_shared() takes A from
/// shared memory; from_registers() takes A's fragments from registers.
struct Wgmma {
  __device__ static __forceinline__ void from_registers(float (&d)[64], const std::uint32_t* a, SmemDescriptor b,
                                                        bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" TBENCH_NAMES_0_31 ", " TBENCH_NAMES_32_63
        "}, {%64, %65, %66, %67}, %68, add, 1, 1;\n}\n"
        : TBENCH_REGISTERS_32(d, 0), TBENCH_REGISTERS_32(d, 32)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)));
  }
  __device__ static __forceinline__ void from_registers(float (&d)[32], const std::uint32_t* a, SmemDescriptor b,
                                                        bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" TBENCH_NAMES_0_31
        "}, {%32, %33, %34, %35}, %36, add, 1, 1;\n}\n"
        : TBENCH_REGISTERS_32(d, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(add)));
  }
  __device__ static __forceinline__ void from_shared(float (&d)[32], SmemDescriptor a, SmemDescriptor b, bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" TBENCH_NAMES_0_31 "}, %32, %33, add, 1, 1;\n}\n"
        : TBENCH_REGISTERS_32(d, 0)
        : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(add)));
  }
  __device__ static __forceinline__ void from_shared(float (&d)[16], SmemDescriptor a, SmemDescriptor b, bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %18, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {" TBENCH_NAMES_0_15 "}, %16, %17, add, 1, 1;\n}\n"
        : TBENCH_REGISTERS_8(d, 0), TBENCH_REGISTERS_8(d, 8)
        : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(add)));
  }
};

#undef TBENCH_NAMES_32_63
#undef TBENCH_NAMES_0_31
#undef TBENCH_NAMES_0_15
#undef TBENCH_REGISTERS_32
#undef TBENCH_REGISTERS_8

}  // namespace tbench::kernels::sm90_tf32

// Replaces src/kernels/attention/common/ptx.cuh when kernels are compiled for the emulator: the same functions, with
// fragment layouts as in the PTX ISA, "Warp-level matrix instructions", and CUDA's built-ins.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "emulated/emulator.hpp"

#undef __launch_bounds__
#define __launch_bounds__(...)
#ifndef __grid_constant__
#define __grid_constant__
#endif
#define threadIdx (tbench::kernels::emulator::thread_index())
#define blockIdx (tbench::kernels::emulator::block_index())
#define gridDim (tbench::kernels::emulator::grid_extents())

namespace tbench::kernels {

using std::max;
using std::min;

constexpr int kWarpSize = emulator::kLanes;
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

inline void __syncthreads() { emulator::meet_block(0, emulator::block_threads(), true); }
inline float __shfl_xor_sync(unsigned, float value, int mask) {
  return emulator::meet_warp(value)[emulator::lane() ^ mask];
}
inline bool __any_sync(unsigned, bool value) {
  return std::ranges::any_of(emulator::meet_warp(value), [](bool one) { return one; });
}
inline void __syncwarp() { static_cast<void>(emulator::meet_warp(0)); }
inline std::uint32_t __float_as_uint(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float __uint_as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline void* __cvta_shared_to_generic(std::uint32_t address) { return emulator::shared_memory(address, 1); }

inline std::uint32_t shared_address(const void* pointer) { return emulator::shared_address(pointer); }

inline void cp_async_16(std::uint32_t destination, const void* source, bool valid) {
  emulator::copy_async(destination, source, 16, valid);
}
inline void cp_async_4(std::uint32_t destination, const void* source, bool valid) {
  emulator::copy_async(destination, source, 4, valid);
}
inline void cp_async_commit_group() { emulator::commit_copies(); }
template <int kPending>
inline void cp_async_wait_group() {
  emulator::wait_copies(kPending);
}

template <int kThreads>
inline void named_barrier_arrive(int number) {
  emulator::meet_block(number, kThreads, false);
}
template <int kThreads>
inline void named_barrier_sync(int number) {
  emulator::meet_block(number, kThreads, true);
}

/// Returns element [row, col] of the m-th of four 8x8 matrices. The lanes provide the addresses of their rows.
inline std::uint32_t matrix_element(const std::array<std::uint32_t, emulator::kLanes>& rows, int m, int row, int col) {
  const char* const begin = emulator::shared_memory(rows[m * 8 + row], 16);
  return reinterpret_cast<const std::uint16_t*>(begin)[col];
}
inline void ldmatrix_x4(std::uint32_t (&r)[4], std::uint32_t address) {
  const auto rows = emulator::meet_warp(address);
  const int row = emulator::lane() / 4, col = emulator::lane() % 4 * 2;
  for (int m = 0; m < 4; ++m) {
    r[m] = matrix_element(rows, m, row, col) | matrix_element(rows, m, row, col + 1) << 16;
  }
}
inline void ldmatrix_x4_trans(std::uint32_t (&r)[4], std::uint32_t address) {
  const auto rows = emulator::meet_warp(address);
  const int row = emulator::lane() % 4 * 2, col = emulator::lane() / 4;
  for (int m = 0; m < 4; ++m) {
    r[m] = matrix_element(rows, m, row, col) | matrix_element(rows, m, row + 1, col) << 16;
  }
}

template <class Element>
std::uint32_t pack(float low, float high) {
  const Element pair[2]{Element(low), Element(high)};
  return std::bit_cast<std::uint32_t>(pair);
}
template <class Element>
float2 unpack(std::uint32_t pair) {
  Element elements[2];
  std::memcpy(elements, &pair, sizeof(elements));
  return {static_cast<float>(elements[0]), static_cast<float>(elements[1])};
}

/// c[16, 8] += a[16, 16] b[16, 8].
template <class Element>
void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct Operands {
    std::uint32_t a[4], b[2];
  };
  const auto all = emulator::meet_warp(Operands{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const auto element = [](std::uint32_t pair, int which) {
    const float2 both = unpack<Element>(pair);
    return which == 0 ? both.x : both.y;
  };
  for (int i = 0; i < 4; ++i) {
    const int row = emulator::lane() / 4 + i / 2 * 8, col = emulator::lane() % 4 * 2 + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int lane_of_k = k % 8 / 2;
      c[i] += element(all[row % 8 * 4 + lane_of_k].a[row / 8 + k / 8 * 2], k % 2) *
              element(all[col * 4 + lane_of_k].b[k / 8], k % 2);
    }
  }
}

/// Returns the nearest TF32 number, ties to even; NaN stays NaN.
inline std::uint32_t round_to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

/// Returns `x` truncated to float32, as the tensor cores truncate a sum.
inline float truncate(double x) {
  const auto nearest = static_cast<float>(x);
  return std::abs(static_cast<double>(nearest)) > std::abs(x) ? std::nextafter(nearest, 0.0f) : nearest;
}

/// c[16, 8] += a[16, 8] b[8, 8] with TF32 operands, whose low 13 bits are ignored.
inline void mma_m16n8k8(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct Operands {
    std::uint32_t a[4], b[2];
  };
  const auto all = emulator::meet_warp(Operands{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const auto element = [](std::uint32_t word) { return double{std::bit_cast<float>(word & ~0x1fffu)}; };
  for (int i = 0; i < 4; ++i) {
    const int row = emulator::lane() / 4 + i / 2 * 8, col = emulator::lane() % 4 * 2 + i % 2;
    double sum = c[i];
    for (int k = 0; k < 8; ++k) {
      sum += element(all[row % 8 * 4 + k % 4].a[row / 8 + k / 4 * 2]) * element(all[col * 4 + k % 4].b[k / 4]);
    }
    c[i] = truncate(sum);
  }
}

inline void atomicAdd(float* destination, float value) { *destination += value; }
inline void atomic_add_v4(float* destination, const float (&values)[4]) {
  for (int i = 0; i < 4; ++i) destination[i] += values[i];
}

inline float exp2_approximate(float x) { return std::exp2(x); }

}  // namespace tbench::kernels

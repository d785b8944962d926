// Replaces src/kernels/attention/sm90_tf32/common/wgmma.cuh when kernels are compiled for the emulator.
#pragma once

#include "kernels/attention/sm90/common/wgmma.cuh"
#include "kernels/attention/sm90_tf32/common/sm90_names.hpp"

namespace tbench::kernels::sm90_tf32 {

struct Wgmma {
  static constexpr int kInner = 8;
  using Rows = std::array<std::array<double, kInner>, 2>;  // a thread's rows of A

  template <int kCount>
  static void from_shared(float (&d)[kCount], SmemDescriptor a, SmemDescriptor b, bool add) {
    const int row = static_cast<int>(threadIdx.x) % kWarpGroupThreads / kWarpSize * 16 + emulator::lane() / 4;
    emulator::do_async([&d, a, b, add, row] {
      Rows rows;
      for (int half = 0; half < 2; ++half) {
        for (int k = 0; k < kInner; ++k) rows[half][k] = element(a, row + 8 * half, k);
      }
      multiply(d, rows, b, add);
    });
  }

  template <int kCount>
  static void from_registers(float (&d)[kCount], const std::uint32_t* a, SmemDescriptor b, bool add) {
    const auto all = emulator::meet_warp(std::array{a[0], a[1], a[2], a[3]});
    Rows rows;
    for (int k = 0; k < kInner; ++k) {
      const auto& words = all[static_cast<std::size_t>(emulator::lane() / 4 * 4 + k % 4)];
      for (int half = 0; half < 2; ++half) rows[half][k] = read(__uint_as_float(words[half + k / 4 * 2]));
    }
    emulator::do_async([&d, rows, b, add] { multiply(d, rows, b, add); });
  }

 private:
  /// Multiplies the elements of one thread: two columns of every eight in two rows.
  template <int kCount>
  static void multiply(float (&d)[kCount], const Rows& rows, SmemDescriptor b, bool add) {
    for (int i = 0; i < kCount; ++i) {
      const int half = i / 2 % 2, column = i / 4 * 8 + emulator::lane() % 4 * 2 + i % 2;
      double sum = add ? d[i] : 0.0;
      for (int k = 0; k < kInner; ++k) sum += rows[half][k] * element(b, column, k);
      d[i] = truncate(sum);
    }
  }

  static double element(SmemDescriptor operand, int row, int inner) {
    return read(operand.element<float>(static_cast<std::uint32_t>(row * kPanelRowBytes + inner * 4)));
  }
  /// Reads a TF32 operand, whose low 13 bits are ignored.
  static double read(float word) { return __uint_as_float(__float_as_uint(word) & ~0x1fffu); }
};

}  // namespace tbench::kernels::sm90_tf32

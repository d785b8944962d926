// Stands in for src/kernels/attention/sm90/tf32/wgmma_tf32.cuh where the kernels are compiled for the emulator.
#pragma once

#include "kernels/attention/sm90/wgmma.cuh"

namespace tbench::kernels::sm90::tf32 {

struct Wgmma {
  static constexpr int kInner = 8;

  template <int kCount>
  static void from_registers(float (&d)[kCount], const std::uint32_t* a, Operand b, bool add) {
    const auto all = emulator::meet_warp(std::array{a[0], a[1], a[2], a[3]});
    std::array<std::array<double, kInner>, 2> rows;  // of A, a thread's
    for (int k = 0; k < kInner; ++k) {
      const auto& words = all[static_cast<std::size_t>(emulator::lane() / 4 * 4 + k % 4)];
      for (int half = 0; half < 2; ++half) rows[half][k] = read(__uint_as_float(words[half + k / 4 * 2]));
    }
    emulator::do_async([&d, rows, b, add] {
      for (int i = 0; i < kCount; ++i) {
        const int half = i / 2 % 2, column = i / 4 * 8 + emulator::lane() % 4 * 2 + i % 2;
        double sum = add ? d[i] : 0.0;
        for (int k = 0; k < kInner; ++k) {
          sum += rows[half][k] * read(b.element<float>(static_cast<std::uint32_t>(column * kPanelRowBytes + k * 4)));
        }
        d[i] = truncate(sum);
      }
    });
  }

 private:
  /// The low 13 bits are ignored.
  static double read(float word) { return __uint_as_float(__float_as_uint(word) & ~0x1fffu); }
};

}  // namespace tbench::kernels::sm90::tf32

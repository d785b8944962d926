// Replaces src/kernels/attention/sm90/common/wgmma.cuh when kernels are compiled for the emulator: each thread computes
// its own elements, at once or when it waits for them.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/attention/sm90/common/ptx.cuh"

namespace tbench::kernels::sm90 {

constexpr int kPanelRowBytes = kSwizzle128Cols * 2;

struct SmemDescriptor {
  std::uint32_t address, panel_bytes;
  int row_bytes;
  SmemDescriptor at(int bytes) const { return {address + static_cast<std::uint32_t>(bytes), panel_bytes, row_bytes}; }

  /// The swizzle permutes the vectors of a row by the row's number in memory.
  template <class Element>
  float element(std::uint32_t offset) const {
    return static_cast<float>(load_shared_as<Element>(swizzled(address + offset, row_bytes)));
  }
  /// Returns an element of rows of 16 elements or, if `kTransposed`, of 16 rows.
  template <class Element, bool kTransposed>
  float element(int row, int inner) const {
    const auto r = static_cast<std::uint32_t>(row), k = static_cast<std::uint32_t>(inner);
    const auto bytes = static_cast<std::uint32_t>(row_bytes), columns = bytes / 2;
    if constexpr (kTransposed) {
      return element<Element>(r / columns * panel_bytes + k * bytes + r % columns * 2);
    } else {
      return element<Element>(r * bytes + k * 2);
    }
  }
};
template <int kRowBytes = kPanelRowBytes>
SmemDescriptor make_smem_descriptor(std::uint32_t address, int panel_bytes = 16) {
  return {address, static_cast<std::uint32_t>(panel_bytes), kRowBytes};
}

inline void wgmma_fence() {}
inline void wgmma_commit_group() { emulator::commit_copies(); }
template <int kPending, int kCount>
void wgmma_wait_group(float (&)[kCount]) {
  emulator::wait_copies(kPending);
}

template <class Element>
struct Wgmma {
  static constexpr int kInner = 16;
  using Rows = std::array<std::array<float, kInner>, 2>;  // a thread's rows of A

  template <bool kTransposed = false, int kCount>
  static void from_shared(float (&d)[kCount], SmemDescriptor a, SmemDescriptor b, bool add) {
    const int row = static_cast<int>(threadIdx.x) % kWarpGroupThreads / kWarpSize * 16 + emulator::lane() / 4;
    emulator::do_async([&d, a, b, add, row] {
      Rows rows;
      for (int k = 0; k < kInner; ++k) {
        rows[0][k] = a.element<Element, false>(row, k);
        rows[1][k] = a.element<Element, false>(row + 8, k);
      }
      multiply<kTransposed>(d, rows, b, add);
    });
  }

  template <bool kTransposed, int kCount>
  static void from_registers(float (&d)[kCount], const std::uint32_t* a, SmemDescriptor b, bool add) {
    const auto all = emulator::meet_warp(std::array{a[0], a[1], a[2], a[3]});
    Rows rows;
    for (int k = 0; k < kInner; ++k) {
      const auto& pairs = all[emulator::lane() / 4 * 4 + k % 8 / 2];
      for (int half = 0; half < 2; ++half) {
        const float2 pair = unpack<Element>(pairs[half + k / 8 * 2]);
        rows[half][k] = k % 2 == 0 ? pair.x : pair.y;
      }
    }
    emulator::do_async([&d, rows, b, add] { multiply<kTransposed>(d, rows, b, add); });
  }

 private:
  /// Multiplies the elements of one thread: two columns of every eight in two rows.
  template <bool kTransposed, int kCount>
  static void multiply(float (&d)[kCount], const Rows& rows, SmemDescriptor b, bool add) {
    for (int pair = 0; pair < kCount / 2; ++pair) {
      const int i = pair / 2 * 4 + pair % 2, column = pair / 2 * 8 + emulator::lane() % 4 * 2 + pair % 2;
      float sums[2]{add ? d[i] : 0.0f, add ? d[i + 2] : 0.0f};
      for (int k = 0; k < kInner; ++k) {
        const float element = b.element<Element, kTransposed>(column, k);
        sums[0] += rows[0][k] * element;
        sums[1] += rows[1][k] * element;
      }
      d[i] = sums[0];
      d[i + 2] = sums[1];
    }
  }
};

}  // namespace tbench::kernels::sm90

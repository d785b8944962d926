// Replaces src/kernels/attention/sm90/common/ptx.cuh when kernels are compiled for the emulator. It has the same
// functions.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/attention/common/ptx.cuh"
#include "kernels/attention/sm90/common/swizzle.hpp"
#include "kernels/common/pdl.cuh"

namespace tbench::kernels::sm90 {

constexpr int kWarpGroupThreads = 128;
constexpr int kWarpGroupWarps = 4;

/// Supports only values that are the same in the whole warp.
inline int __shfl_sync(unsigned, int value, int) { return value; }
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return emulator::meet_warp(value)[static_cast<std::size_t>(emulator::lane() ^ mask)];
}

template <int kRegisters>
inline void setmaxnreg_dec() {}
template <int kRegisters>
inline void setmaxnreg_inc() {}

inline void mbarrier_init(std::uint32_t barrier, int arrivals) { emulator::make_counter(barrier, arrivals); }
inline void fence_mbarrier_init() {}
inline void mbarrier_arrive(std::uint32_t barrier) { emulator::arrive(barrier); }
inline void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes) { emulator::arrive(barrier, bytes); }
inline void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) { emulator::wait_for_phase(barrier, parity); }
inline void mbarrier_wait_bounded(std::uint32_t, std::uint32_t) {
}  // the code waited for happens before or after at random

inline void fence_proxy_async() {}
inline void prefetch(const CUtensorMap&) {}

enum class CacheHint { kEvictFirst, kEvictLast };
template <CacheHint kReuse>
std::uint64_t l2_cache_hint() {
  return 0;
}

template <CacheHint kReuse>
std::uint64_t cache_policy_here() {
  return 0;
}

/// Contents of a CUtensorMap in the emulator. Strides are in bytes.
struct EmulatedMap {
  char* data;
  std::int64_t batch_stride, head_stride, row_stride;
  int rows, columns, box_rows;
  int panel_columns;
  bool rounds_to_tf32;  // rounds elements that are read; columns are 16-bit, two per float32
};
inline CUtensorMap make_tma_descriptor(const EmulatedMap& emulated) {
  CUtensorMap map{};
  static_assert(sizeof(emulated) <= sizeof(map));
  std::memcpy(&map, &emulated, sizeof(emulated));
  return map;
}

struct TmaCoord {
  int row, head, batch;
  int column = 0;
};

/// Bytes per panel row.
inline int row_bytes(const EmulatedMap& map) { return map.panel_columns * 2; }

/// Swizzles an address for rows of 128, 64 or 32 bytes. The bits that select a vector of the row (bits 4 to 6, 4 and 5,
/// or only 4) are XORed with the bits from bit 7 on. Does not use swizzled_vector(), so that one checks the other.
inline std::uint32_t swizzled(std::uint32_t offset, int row_bytes) {
  const auto vectors = static_cast<std::uint32_t>(row_bytes / 16);
  return offset ^ (offset >> 7) % vectors << 4;
}

/// Calls visit(address in the panel, address in the tensor) for each 16 bytes of a swizzled panel. The second address
/// is null beyond the tensor's end.
template <class Visit>
void visit_panel(char* panel, const EmulatedMap& map, TmaCoord place, const Visit& visit) {
  char* const head = map.data + place.batch * map.batch_stride + place.head * map.head_stride;
  for (int row = 0; row < map.box_rows; ++row) {
    for (int vector = 0; vector < row_bytes(map) / 16; ++vector) {
      const int column = place.column + vector * 8;
      const bool exists = place.row + row < map.rows && column < map.columns;
      visit(panel + swizzled(static_cast<std::uint32_t>(row * row_bytes(map) + vector * 16), row_bytes(map)),
            exists ? head + (place.row + row) * map.row_stride + column * 2 : nullptr);
    }
  }
}
inline void copy_panel(char* destination, const EmulatedMap& map, TmaCoord place) {
  visit_panel(destination, map, place, [&map](char* to, const char* from) {
    if (from == nullptr) {
      std::memset(to, 0, 16);
      return;
    }
    std::memcpy(to, from, 16);
    for (char* word = to; map.rounds_to_tf32 && word < to + 16; word += 4) {
      float value;
      std::memcpy(&value, word, sizeof(value));
      const std::uint32_t rounded = round_to_tf32(value);
      std::memcpy(word, &rounded, sizeof(rounded));
    }
  });
}
inline void store_panel(char* source, const EmulatedMap& map, TmaCoord place) {
  visit_panel(source, map, place, [](const char* from, char* to) {
    if (to != nullptr) std::memcpy(to, from, 16);
  });
}
/// Calls visit(shared memory, tensor, coordinates) for each panel of a tile.
template <int kHeadDim, int kPanel, class Visit>
void visit_panels(std::uint32_t tile, int panel_bytes, const CUtensorMap& map, TmaCoord place, const Visit& visit) {
  EmulatedMap emulated;
  std::memcpy(&emulated, &map, sizeof(emulated));
  for (int panel = 0; panel < (kHeadDim + kPanel - 1) / kPanel; ++panel) {
    place.column = panel * kPanel;
    visit(emulator::shared_memory(tile + static_cast<std::uint32_t>(panel * panel_bytes), 1024), emulated, place);
  }
}
template <int kHeadDim, int kPanel = panel_columns(kHeadDim)>
void tma_load_tile(std::uint32_t destination, int panel_bytes, const CUtensorMap& map, TmaCoord place,
                   std::uint32_t barrier, std::uint64_t) {
  const auto copy = [barrier](char* to, const EmulatedMap& from, TmaCoord box) {
    emulator::copy_some_time(barrier, from.box_rows * row_bytes(from), [=] { copy_panel(to, from, box); });
  };
  visit_panels<kHeadDim, kPanel>(destination, panel_bytes, map, place, copy);
}
inline void bulk_load(std::uint32_t destination, const void* source, int bytes, std::uint32_t barrier,
                      std::uint64_t = 0) {
  char* const to = emulator::shared_memory(destination, 16);
  emulator::copy_some_time(barrier, bytes, [=] { std::memcpy(to, source, static_cast<std::size_t>(bytes)); });
}
/// The storing thread has no products in flight.
template <int kHeadDim>
void tma_store_tile(const CUtensorMap& map, TmaCoord place, std::uint32_t source, int panel_bytes) {
  visit_panels<kHeadDim, panel_columns(kHeadDim)>(
      source, panel_bytes, map, place,
      [](char* from, const EmulatedMap& to, TmaCoord box) { emulator::do_async([=] { store_panel(from, to, box); }); });
  emulator::commit_copies();
}
inline void bulk_wait_group_read() { emulator::wait_copies(0); }

template <class T>
T load_shared_as(std::uint32_t address) {
  T value;
  std::memcpy(&value, emulator::shared_memory(address, sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store_shared(std::uint32_t address, T value) {
  std::memcpy(emulator::shared_memory(address, sizeof(T)), &value, sizeof(T));
}
inline uint4 load_shared_vector(std::uint32_t address) { return load_shared_as<uint4>(address); }
inline int load_shared(std::uint32_t address) { return load_shared_as<int>(address); }
inline float2 load_shared_pair(std::uint32_t address) { return load_shared_as<float2>(address); }
inline float4 load_shared_four(std::uint32_t address) { return load_shared_as<float4>(address); }
inline void store_shared_four(std::uint32_t address, float4 four) { store_shared(address, four); }
inline void store_zeros(std::uint32_t address) { store_shared(address, uint4{}); }

inline float opaque(float value) { return value; }
inline int opaque(int value) { return value; }
inline int opaque_thread_index() { return static_cast<int>(threadIdx.x); }
inline int read_lane() { return emulator::lane(); }

inline unsigned atomicAdd(unsigned* destination, unsigned value) {
  return std::exchange(*destination, *destination + value);
}
inline void red_add_v4(float* destination, const float* values) {
  for (int i = 0; i < 4; ++i) destination[i] += values[i];
}
inline float4 load_from_global(const float* source) { return {source[0], source[1], source[2], source[3]}; }
inline void store_to_global(float* destination, const float* values) {
  std::memcpy(destination, values, 4 * sizeof(float));
}

inline void ldmatrix_x4(std::uint32_t* r, std::uint32_t address) {
  std::uint32_t matrices[4];
  kernels::ldmatrix_x4(matrices, address);
  std::memcpy(r, matrices, sizeof(matrices));
}
/// Each lane has two elements of one row of each matrix.
inline void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  const auto rows = emulator::meet_warp(address);
  for (int matrix = 0; matrix < 4; ++matrix) {
    const auto line = rows[static_cast<std::size_t>(matrix * 8 + emulator::lane() / 4)];
    store_shared(line + static_cast<std::uint32_t>(emulator::lane() % 4 * 4), r[matrix]);
  }
}
/// Each lane has two elements of one column of each stored matrix.
inline void store_transposed(std::uint32_t address, const std::uint32_t* r) {
  const auto rows = emulator::meet_warp(address);
  for (int matrix = 0; matrix < 4; ++matrix) {
    for (int i = 0; i < 2; ++i) {
      const auto line = rows[static_cast<std::size_t>(matrix * 8 + emulator::lane() % 4 * 2 + i)];
      store_shared(line + static_cast<std::uint32_t>(emulator::lane() / 4 * 2),
                   static_cast<std::uint16_t>(r[matrix] >> 16 * i));
    }
  }
}

}  // namespace tbench::kernels::sm90

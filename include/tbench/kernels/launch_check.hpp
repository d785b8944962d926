// Draws the operands of a timed launch of foreign code, fills its outputs with NaN, and scans them behind it. Contents
// are a function of a key of 64 bits alone: the operands of any launch can be made again later. A draw and a scan are
// one kernel each on a GPU. The host draws the same numbers from the same key, but for the last bits of a logarithm.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tbench::kernels {

enum class ElementType : std::int32_t { kFloat, kBf16, kFp16, kFp8E4m3, kInt64 };

enum class Contents : std::int32_t {
  kNormal,  // standard normal values
  kIds,     // uniform in [0, ids)
  kNaN,
};

/// Rows of elements that get new contents.
struct DrawnRows {
  void* data{};  // aligned to its elements
  ElementType type{};
  Contents contents{};
  std::int64_t rows{1};
  std::int64_t columns{};
  std::int64_t stride{};   // elements from one row to the next
  float factor{1.0F};      // of normal values
  const float* divisor{};  // of normal values, one number on the same device; null: 1
  std::int64_t ids{1};     // of kIds
};

inline constexpr std::size_t kMaxDrawn = 16;

/// Enqueues one kernel; never synchronises. The place in the list is part of what is drawn.
/// @param drawn  at most kMaxDrawn
/// @throws       std::invalid_argument; CudaError if the launch fails
void draw_on_device(std::span<const DrawnRows> drawn, std::uint64_t key, cudaStream_t stream);
void draw_on_host(std::span<const DrawnRows> drawn, std::uint64_t key);

inline constexpr std::size_t kCopiedRows = 8;

/// An output of a launch: contiguous rows.
struct ScannedRows {
  const void* data{};
  ElementType type{};
  std::int64_t rows{};
  std::int64_t columns{};
  double* digests{};  // [rows]: of each row the sum of its elements with the signs of sign_of(); null: not wanted
  void* copies{};     // [copied, columns] of the same type: some of the rows; null: not wanted
  std::int32_t copied{};
  std::int64_t copied_rows[kCopiedRows]{};  // plain, for device code
};

inline constexpr std::size_t kMaxScanned = 8;

/// 1 or -1: the sign of a column in the digests of a key.
[[nodiscard]] double sign_of(std::uint64_t key, std::int64_t column);

/// Enqueues one kernel; never synchronises.
/// @param first_bad  on the device: becomes `number` if that is smaller and an element is NaN or infinite
/// @throws           std::invalid_argument; CudaError if the launch fails
void scan_on_device(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                    std::uint32_t* first_bad, cudaStream_t stream);
void scan_on_host(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                  std::uint32_t* first_bad);

}  // namespace tbench::kernels

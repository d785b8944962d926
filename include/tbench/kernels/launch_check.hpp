// Draws the operands of a timed launch of foreign code, fills its outputs with NaN, and scans the outputs after the
// launch. Contents depend only on a 64-bit key, so the operands of any launch can be recreated later. On a GPU, a draw
// is one kernel, and so is a scan. The host draws the same numbers from the same key, except for the last bits of
// logarithms.
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

/// Rows of elements that a draw overwrites.
struct DrawnRows {
  void* data{};  // aligned to the element size
  ElementType type{};
  Contents contents{};
  std::int64_t rows{1};
  std::int64_t columns{};
  std::int64_t stride{};   // elements from one row to the next
  float factor{1.0F};      // factor of normal values
  const float* divisor{};  // divisor of normal values: one number on the same device; null: 1
  std::int64_t ids{1};     // for kIds: upper bound of the values, exclusive
};

inline constexpr std::size_t kMaxDrawn = 16;

/// Draws new contents for all `drawn` rows. draw_on_device() enqueues one kernel and never synchronises. An entry's
/// contents also depend on its index in `drawn`.
/// @param drawn  at most kMaxDrawn entries
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
  double* digests{};  // [rows]: each row's sum of elements times sign_of() their column; null: not computed
  void* copies{};     // [copied, columns] of the same type: copies of rows `copied_rows`; null: no copies
  std::int32_t copied{};
  std::int64_t copied_rows[kCopiedRows]{};  // row indices; a plain array, because device code reads it
};

inline constexpr std::size_t kMaxScanned = 8;

/// Returns 1 or -1: the sign of a column in the digests of `key`.
[[nodiscard]] double sign_of(std::uint64_t key, std::int64_t column);

/// Looks for elements that are NaN or infinite, and computes digests and copies. scan_on_device() enqueues one kernel
/// and never synchronises.
/// @param first_bad  set to `number` if an element is NaN or infinite and `number` is smaller than the value so far; on
///                   the device for scan_on_device()
/// @throws           std::invalid_argument; CudaError if the launch fails
void scan_on_device(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                    std::uint32_t* first_bad, cudaStream_t stream);
void scan_on_host(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                  std::uint32_t* first_bad);

}  // namespace tbench::kernels

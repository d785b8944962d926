#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/launch_check/elements.cuh"
#include "kernels/launch_check/philox.cuh"
#include "tbench/cuda/error.hpp"
#include "tbench/kernels/launch_check.hpp"

namespace tbench::kernels {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 2048;
constexpr std::int64_t kQuad = 4;
constexpr std::uint32_t kBitsPerCall = 128;  // random bits per call of philox()
constexpr std::uint32_t kBitsPerWord = 32;

struct ScanList {
  ScannedRows of[kMaxScanned];
  int count;
};

__host__ __device__ double sign(std::uint64_t key, std::int64_t column) {
  const auto place = static_cast<std::uint64_t>(column);
  const Words words = words_at(key, place / kBitsPerCall, 0);
  const std::uint32_t of[4] = {words.x, words.y, words.z, words.w};
  return (of[place % kBitsPerCall / kBitsPerWord] >> (place % kBitsPerWord) & 1U) != 0 ? 1.0 : -1.0;
}

__host__ __device__ bool is_finite(float value) {
#ifdef __CUDA_ARCH__
  return isfinite(value);
#else
  return std::isfinite(value);
#endif
}

/// Returns whether the four elements of quad number `quad` are finite.
template <class T>
__host__ __device__ bool is_finite_quad(const ScannedRows& rows, std::int64_t quad) {
  const T* const from = static_cast<const T*>(rows.data) + quad * kQuad;
  const std::int64_t left = rows.rows * rows.columns - quad * kQuad;
  bool finite = true;
  if (left >= kQuad && is_aligned_quad(from)) {
    const Quad<T> values = *reinterpret_cast<const Quad<T>*>(from);
    for (const T value : values.of) finite = finite && is_finite(to_float(value));
    return finite;
  }
  for (int i = 0; i < kQuad && i < left; ++i) finite = finite && is_finite(to_float(from[i]));
  return finite;
}

/// Returns the part of a row's digest from columns first, first + step, and so on.
template <class T>
__host__ __device__ double digest_part(const ScannedRows& rows, std::int64_t row, std::uint64_t key, std::int64_t first,
                                       std::int64_t step) {
  const T* const from = static_cast<const T*>(rows.data) + row * rows.columns;
  double sum = 0.0;
  for (std::int64_t column = first; column < rows.columns; column += step) {
    sum += sign(key, column) * static_cast<double>(to_float(from[column]));
  }
  return sum;
}

template <class T>
__host__ __device__ void copy_element(const ScannedRows& rows, std::int64_t place) {
  const std::int64_t row = place / rows.columns;
  const std::int64_t from = rows.copied_rows[row] * rows.columns + place % rows.columns;
  static_cast<T*>(rows.copies)[place] = static_cast<const T*>(rows.data)[from];
}

template <class T>
__device__ void scan(const ScannedRows& rows, std::uint64_t key, bool& finite) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t quads = (rows.rows * rows.columns + kQuad - 1) / kQuad;
  for (std::int64_t quad = first; quad < quads; quad += threads) finite = is_finite_quad<T>(rows, quad) && finite;
  if (rows.copies != nullptr) {
    for (std::int64_t i = first; i < rows.copied * rows.columns; i += threads) copy_element<T>(rows, i);
  }
  if (rows.digests == nullptr) return;
  // A warp computes the digest of a row, or a single thread if the row has fewer elements than a warp has threads.
  if (rows.columns < kWarpThreads) {
    for (std::int64_t row = first; row < rows.rows; row += threads) {
      rows.digests[row] = digest_part<T>(rows, row, key, 0, 1);
    }
    return;
  }
  for (std::int64_t row = first / kWarpThreads; row < rows.rows; row += threads / kWarpThreads) {
    const double sum = warp_sum(digest_part<T>(rows, row, key, threadIdx.x % kWarpThreads, kWarpThreads));
    if (threadIdx.x % kWarpThreads == 0) rows.digests[row] = sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    scan_kernel(const ScanList list, std::uint64_t key, std::uint32_t number, std::uint32_t* first_bad) {
  bool finite = true;
  for (int i = 0; i < list.count; ++i) {
    with_type_on_device(list.of[i].type, [&](auto element) { scan<decltype(element)>(list.of[i], key, finite); });
  }
  if (!finite) atomicMin(first_bad, number);
}

}  // namespace

double sign_of(std::uint64_t key, std::int64_t column) { return sign(key, column); }

void scan_on_device(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                    std::uint32_t* first_bad, cudaStream_t stream) {
  if (scanned.size() > kMaxScanned) throw std::invalid_argument{"scan_on_device: too many tensors at once"};
  ScanList list{};
  list.count = static_cast<int>(scanned.size());
  std::int64_t quads = 0;
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    list.of[i] = scanned[i];
    quads = std::max(quads, (scanned[i].rows * scanned[i].columns + kQuad - 1) / kQuad);
  }
  if (quads == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (quads + kThreads - 1) / kThreads));
  scan_kernel<<<blocks, kThreads, 0, stream>>>(list, key, number, first_bad);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void scan_on_host(std::span<const ScannedRows> scanned, std::uint64_t key, std::uint32_t number,
                  std::uint32_t* first_bad) {
  bool finite = true;
  for (const ScannedRows& rows : scanned) {
    with_type(rows.type, [&](auto element) {
      using T = decltype(element);
      const std::int64_t quads = (rows.rows * rows.columns + kQuad - 1) / kQuad;
      for (std::int64_t quad = 0; quad < quads; ++quad) finite = is_finite_quad<T>(rows, quad) && finite;
      const std::int64_t copied = rows.copies == nullptr ? 0 : rows.copied * rows.columns;
      for (std::int64_t i = 0; i < copied; ++i) copy_element<T>(rows, i);
      const std::int64_t digests = rows.digests == nullptr ? 0 : rows.rows;
      for (std::int64_t row = 0; row < digests; ++row) rows.digests[row] = digest_part<T>(rows, row, key, 0, 1);
    });
  }
  if (!finite) *first_bad = std::min(*first_bad, number);
}

}  // namespace tbench::kernels

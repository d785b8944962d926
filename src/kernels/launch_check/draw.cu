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
constexpr std::int64_t kGroup = 4;  // elements per call of philox()

struct DrawList {
  DrawnRows of[kMaxDrawn];
  int count;
};

__host__ __device__ std::int64_t groups_of_row(const DrawnRows& drawn) { return (drawn.columns + kGroup - 1) / kGroup; }

/// Computes two independent standard normal values from two random words.
/// @see  Box, Muller, A note on the generation of random normal deviates (1958)
__host__ __device__ void normal_pair(std::uint32_t first, std::uint32_t second, float* to) {
  constexpr float kUnit = 0x1p-32F, kTurn = 6.2831853F;
  const float uniform = (static_cast<float>(first) + 0.5F) * kUnit,
              angle = static_cast<float>(second) * (kUnit * kTurn);
#ifdef __CUDA_ARCH__
  const float radius = sqrtf(-2.0F * __logf(uniform));
  __sincosf(angle, to + 1, to);
  to[0] *= radius;
  to[1] *= radius;
#else
  const float radius = std::sqrt(-2.0F * std::log(uniform));
  to[0] = radius * std::cos(angle);
  to[1] = radius * std::sin(angle);
#endif
}

template <class T>
__host__ __device__ T nan_of() {
  return from_float<T>(NAN);
}
template <>
__host__ __device__ inline std::int64_t nan_of<std::int64_t>() {
  return -1;
}

template <class T>
__host__ __device__ Quad<T> contents_of(const DrawnRows& drawn, const Words& words) {
  Quad<T> quad;
  if (drawn.contents == Contents::kNaN) {
    for (T& element : quad.of) element = nan_of<T>();
  } else if (drawn.contents == Contents::kIds) {
    const std::uint32_t of[kGroup] = {words.x, words.y, words.z, words.w};
    for (int i = 0; i < kGroup; ++i) {
      quad.of[i] = static_cast<T>((std::uint64_t{of[i]} * static_cast<std::uint64_t>(drawn.ids)) >> 32U);
    }
  } else {
    float normal[kGroup];
    normal_pair(words.x, words.y, normal);
    normal_pair(words.z, words.w, normal + 2);
    const float factor = drawn.divisor == nullptr ? drawn.factor : drawn.factor / *drawn.divisor;
    for (int i = 0; i < kGroup; ++i) quad.of[i] = from_float<T>(normal[i] * factor);
  }
  return quad;
}

template <class T>
__host__ __device__ void draw_group(const DrawnRows& drawn, std::uint64_t key, int part, std::int64_t group) {
  const std::int64_t in_row = groups_of_row(drawn);
  const std::int64_t row = drawn.rows == 1 ? 0 : group / in_row, column = (group - row * in_row) * kGroup;
  const Quad<T> quad =
      contents_of<T>(drawn, words_at(key, static_cast<std::uint64_t>(group), static_cast<std::uint32_t>(part)));
  T* const to = static_cast<T*>(drawn.data) + row * drawn.stride + column;
  const std::int64_t left = drawn.columns - column;
  if (left >= kGroup && is_aligned_quad(to)) {
    *reinterpret_cast<Quad<T>*>(to) = quad;
    return;
  }
  for (int i = 0; i < kGroup && i < left; ++i) to[i] = quad.of[i];
}

__global__ void __launch_bounds__(kThreads) draw_kernel(const DrawList list, std::uint64_t key) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (int part = 0; part < list.count; ++part) {
    const DrawnRows& drawn = list.of[part];
    const std::int64_t groups = drawn.rows * groups_of_row(drawn);
    with_type_on_device(drawn.type, [&](auto element) {
      for (std::int64_t group = first; group < groups; group += threads) {
        draw_group<decltype(element)>(drawn, key, part, group);
      }
    });
  }
}

}  // namespace

void draw_on_device(std::span<const DrawnRows> drawn, std::uint64_t key, cudaStream_t stream) {
  if (drawn.size() > kMaxDrawn) throw std::invalid_argument{"draw_on_device: too many tensors at once"};
  DrawList list{};
  list.count = static_cast<int>(drawn.size());
  std::int64_t groups = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    list.of[i] = drawn[i];
    groups = std::max(groups, drawn[i].rows * groups_of_row(drawn[i]));
  }
  if (groups == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (groups + kThreads - 1) / kThreads));
  draw_kernel<<<blocks, kThreads, 0, stream>>>(list, key);
  TBENCH_CUDA_CHECK(cudaGetLastError());
}

void draw_on_host(std::span<const DrawnRows> drawn, std::uint64_t key) {
  for (std::size_t part = 0; part < drawn.size(); ++part) {
    const std::int64_t groups = drawn[part].rows * groups_of_row(drawn[part]);
    with_type(drawn[part].type, [&](auto element) {
      for (std::int64_t group = 0; group < groups; ++group) {
        draw_group<decltype(element)>(drawn[part], key, static_cast<int>(part), group);
      }
    });
  }
}

}  // namespace tbench::kernels

// Division of a row of logits among threads: a pure function of shape, precision and alignment.
#include <algorithm>

#include "kernels/common/dispatch.hpp"
#include "tbench/kernels/cross_entropy.hpp"

namespace tbench::kernels {

CrossEntropyPlan cross_entropy_plan(std::int64_t rows, std::int64_t width, Precision precision, bool in_vectors) {
  constexpr std::int64_t kVectorBytes = 16, kWarp = 32;
  constexpr std::int64_t kMaxVectors = 8, kThreadsOfALongRow = 1024;
  check_extent("cross_entropy", "rows", rows, 1, 0x7fffffff);
  check_extent("cross_entropy", "the width", width, 1, 0x7fffffff);
  const std::int64_t vector = kVectorBytes / storage_bytes(precision);
  const std::int64_t width_of_vector = in_vectors && width % vector == 0 ? vector : 1;
  const auto threads_with = [&](std::int64_t vectors) {
    return ceil_div(ceil_div(width / width_of_vector, vectors), kWarp) * kWarp;
  };
  std::int64_t vectors = 1;
  while (vectors < kMaxVectors && threads_with(vectors) > kCrossEntropyRowThreads) vectors *= 2;
  const bool fits = threads_with(vectors) <= kCrossEntropyRowThreads;
  return {.width_of_vector = static_cast<int>(width_of_vector),
          .vectors = fits ? static_cast<int>(vectors) : 0,
          .threads = static_cast<int>(fits ? threads_with(vectors) : kThreadsOfALongRow)};
}

}  // namespace tbench::kernels

// What the norm's plan and its kernels agree on.
#pragma once

#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {

/// Elements of a thread: few, so that many threads have copies under way, unless the row is too long for that.
inline constexpr int kNormFewElements = 8, kNormManyElements = 32;

/// Threads of a block, at most, by what registers hold: 64 of a thread, or 128 where it has many elements.
constexpr int norm_max_threads(int elements) { return elements == kNormFewElements ? 1024 : 512; }

/// Rows on their way to shared memory while one is worked on: none where a vector is one element, or where slots for
/// 16,384 elements would not fit. Forward, a row of 16-bit elements gains nothing from a third.
constexpr int norm_rows_ahead(NormPass pass, int width_of_vector, int elements) {
  if (width_of_vector == 1 || elements != kNormFewElements) return 0;
  return pass == NormPass::kForward && width_of_vector < elements ? 3 : 2;
}

/// What a block has besides the plan's shared memory: the kernel's own arrays, and what the runtime keeps.
inline constexpr std::int64_t kNormOtherSharedBytes = 6 << 10;

/// Whether a kernel has to be allowed the plan's shared memory before its launch: both together count.
constexpr bool norm_asks_for_shared(const NormPlan& plan) {
  constexpr std::int64_t kWithoutAsking = 48 << 10;
  return plan.shared_bytes + kNormOtherSharedBytes > kWithoutAsking;
}

/// @throws  std::invalid_argument  for extents or types that the norm has no kernel for
void check_norm(const NormShape& shape);

}  // namespace tbench::kernels

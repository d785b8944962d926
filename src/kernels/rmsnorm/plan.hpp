// Constants that the norm's plan and its kernels share.
#pragma once

#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {

/// Elements per thread: few, so that many threads have copies in flight, unless the row is too long for that.
inline constexpr int kNormFewElements = 8, kNormManyElements = 32;

/// Maximum of threads per CTA, by registers: 64 per thread, or 128 with many elements.
constexpr int norm_max_threads(int elements) { return elements == kNormFewElements ? 1024 : 512; }

/// Rows in flight to shared memory while one is computed: none if a vector is one element, or if slots for 16,384
/// elements would not fit. In the forward pass rows of 16-bit elements gain nothing from a third.
constexpr int norm_rows_ahead(NormPass pass, int width_of_vector, int elements) {
  if (width_of_vector == 1 || elements != kNormFewElements) return 0;
  return pass == NormPass::kForward && width_of_vector < elements ? 3 : 2;
}

/// Shared memory of a CTA outside the plan: the kernel's static arrays and the runtime's own part.
inline constexpr std::int64_t kNormOtherSharedBytes = 6 << 10;

/// Whether a kernel needs the opt-in for the plan's shared memory before its launch; static and dynamic shared memory
/// count together.
constexpr bool norm_asks_for_shared(const NormPlan& plan) {
  constexpr std::int64_t kWithoutAsking = 48 << 10;
  return plan.shared_bytes + kNormOtherSharedBytes > kWithoutAsking;
}

/// @throws  std::invalid_argument  if the norm has no kernel for the extents or types
void check_norm(const NormShape& shape);

}  // namespace tbench::kernels

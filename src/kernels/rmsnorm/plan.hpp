// Constants that the norm's plan and its kernels share.
#pragma once

#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {

/// Elements per thread: few, so that many threads have copies in flight, or many if the row is too long.
inline constexpr int kNormFewElements = 8, kNormManyElements = 32;

/// Returns the maximum number of threads per CTA. Registers limit it: 64 per thread, or 128 with many elements.
constexpr int norm_max_threads(int elements) { return elements == kNormFewElements ? 1024 : 512; }

/// Returns the number of rows in flight to shared memory while another row is computed: 0 if a vector is one element,
/// or if a thread has many elements, because slots for 16,384 elements would not fit. In the forward pass rows of
/// 16-bit elements do not gain from a third row.
constexpr int norm_rows_ahead(NormPass pass, int width_of_vector, int elements) {
  if (width_of_vector == 1 || elements != kNormFewElements) return 0;
  return pass == NormPass::kForward && width_of_vector < elements ? 3 : 2;
}

/// Shared memory of a CTA outside the plan: the kernel's static arrays and the runtime's own part.
inline constexpr std::int64_t kNormOtherSharedBytes = 6 << 10;

/// Whether a kernel needs the opt-in to more shared memory before its launch. Static and dynamic shared memory count
/// together.
constexpr bool norm_asks_for_shared(const NormPlan& plan) {
  constexpr std::int64_t kWithoutAsking = 48 << 10;
  return plan.shared_bytes + kNormOtherSharedBytes > kWithoutAsking;
}

/// Checks a norm's extents and types.
/// @throws  std::invalid_argument  if the norm has no kernel for the extents or types
void check_norm(const NormShape& shape);

}  // namespace tbench::kernels

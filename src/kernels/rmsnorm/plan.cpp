// How rows are divided among threads and blocks: pure functions of the shape.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/common/dispatch.hpp"
#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kMaxThreadsOfARow = 512;
/// Elements of a thread: few, so that many threads have loads under way, unless the row is too long for that.
constexpr std::int64_t kFew = 8, kMany = 32;
/// Threads of a block: forward blocks are small and many; backward blocks, of which each leaves a partial sum of the
/// weight's gradient, few and large.
constexpr std::int64_t kForwardThreads = 256, kBackwardThreads = 512;
/// Backward threads that a multiprocessor holds at once, which all blocks have to: of 64 registers each, or of 128.
std::int64_t threads_at_once(std::int64_t elements) { return elements == kFew ? 1024 : 512; }

void check_norm(const NormShape& shape) {
  check_extent("rmsnorm", "rows", shape.rows, 1, 0x7fffffff);
  check_extent("rmsnorm", "the width", shape.width, 1, kNormMaxWidth);
  const NormTypes& types = shape.types;
  const bool alike = types.stream == types.branch && types.stream == types.weight;
  const bool mixed = types.stream == Precision::kFp32 && types.weight == Precision::kFp32;
  const bool stored = types.stream != Precision::kTf32 && types.branch != Precision::kTf32;
  if (!stored || !(alike || mixed)) {
    throw std::invalid_argument{"rmsnorm: no kernel for a stream of " + std::string{to_string(types.stream)} +
                                ", a branch of " + std::string{to_string(types.branch)} + " and a weight of " +
                                std::string{to_string(types.weight)} +
                                ": use one of fp32, bf16, fp16 for all, or an "
                                "fp32 stream and weight"};
  }
}

NormPlan plan_of_a_row(const NormShape& shape, bool in_vectors) {
  check_norm(shape);
  const std::int64_t vector = kVectorBytes / storage_bytes(shape.types.stream);
  const std::int64_t width_of_vector = in_vectors && shape.width % vector == 0 ? vector : 1;
  const auto threads_with = [&](std::int64_t elements) {
    return ceil_div(ceil_div(shape.width, elements), kWarp) * kWarp;
  };
  const std::int64_t elements = threads_with(kFew) <= kMaxThreadsOfARow ? kFew : kMany;
  return {.width_of_vector = static_cast<int>(width_of_vector),
          .elements = static_cast<int>(elements),
          .threads = static_cast<int>(threads_with(elements)),
          .groups = 1,
          .blocks = 0};
}

}  // namespace

NormPlan norm_forward_plan(const NormShape& shape, bool in_vectors) {
  NormPlan plan = plan_of_a_row(shape, in_vectors);
  const std::int64_t groups = std::clamp<std::int64_t>(kForwardThreads / plan.threads, 1, shape.rows);
  plan.groups = static_cast<int>(groups);
  plan.blocks = ceil_div(shape.rows, groups);
  return plan;
}

NormPlan norm_backward_plan(const NormShape& shape, bool in_vectors, int multiprocessors) {
  NormPlan plan = plan_of_a_row(shape, in_vectors);
  check_extent("rmsnorm", "the number of multiprocessors", multiprocessors, 1, 1 << 20);
  // A named barrier for each group; 0 is the block's.
  constexpr std::int64_t kMaxGroups = 15;
  const std::int64_t groups =
      std::clamp<std::int64_t>(std::min(kBackwardThreads / plan.threads, kMaxGroups), 1, shape.rows);
  const std::int64_t blocks = threads_at_once(plan.elements) / (plan.threads * groups) * std::int64_t{multiprocessors};
  plan.groups = static_cast<int>(groups);
  plan.blocks = std::min(blocks, ceil_div(shape.rows, groups));
  return plan;
}

}  // namespace tbench::kernels

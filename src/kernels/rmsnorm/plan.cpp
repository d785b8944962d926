// Division of rows among threads and CTAs: pure functions of shape, types and device.
#include "kernels/rmsnorm/plan.hpp"

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

/// Approximate number of threads per CTA and maximum number of CTAs per SM. In the forward pass 1,024 threads in four
/// CTAs take 1 to 10 % longer than a copy of the same bytes (H200, cold L2). In the backward pass each CTA leaves a
/// share of the weight gradient, so there are only two large CTAs.
struct BlockSizes {
  std::int64_t threads, blocks;
};
constexpr BlockSizes block_sizes(NormPass pass) {
  return pass == NormPass::kForward ? BlockSizes{256, 4} : BlockSizes{512, 2};
}

/// Divides a row. The division is the same with and without vectors.
NormPlan plan_of_a_row(const NormShape& shape, bool in_vectors) {
  const std::int64_t vector = kVectorBytes / storage_bytes(shape.types.stream);
  const auto threads_with = [&](std::int64_t elements) {
    return ceil_div(ceil_div(shape.width, elements), kWarp) * kWarp;
  };
  const int elements = threads_with(kNormFewElements) <= kMaxThreadsOfARow ? kNormFewElements : kNormManyElements;
  return {.width_of_vector = static_cast<int>(in_vectors && shape.width % vector == 0 ? vector : 1),
          .elements = elements,
          .threads = static_cast<int>(threads_with(elements)),
          .groups = 1,
          .blocks = 0,
          .shared_bytes = 0};
}

/// Returns the bytes of the slots: for x and the branch in the forward pass; for sum, dsum, dnormed and a row's rstd in
/// the backward pass. The groups' sums reuse the memory of the slots.
std::int64_t shared_bytes(NormPass pass, const NormShape& shape, const NormPlan& plan) {
  const std::int64_t stream = storage_bytes(shape.types.stream), branch = storage_bytes(shape.types.branch);
  const std::int64_t of_a_thread = pass == NormPass::kForward
                                       ? plan.elements * (stream + branch)
                                       : plan.elements * (2 * stream + branch) + std::int64_t{sizeof(float)};
  const std::int64_t slots =
      norm_rows_ahead(pass, plan.width_of_vector, plan.elements) * plan.threads * plan.groups * of_a_thread;
  const bool has_sums = pass == NormPass::kBackward && plan.groups > 1;
  return std::max(slots, has_sums ? shape.width * std::int64_t{sizeof(float)} : 0);
}

}  // namespace

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

NormPlan norm_plan(NormPass pass, const NormShape& shape, bool in_vectors, const NormDevice& device) {
  check_norm(shape);
  check_extent("rmsnorm", "the number of multiprocessors", device.multiprocessors, 1, 1 << 20);
  // Each group has a named barrier; number 0 is the barrier of the whole CTA.
  constexpr std::int64_t kMaxGroups = 15;
  const BlockSizes sizes = block_sizes(pass);
  NormPlan plan = plan_of_a_row(shape, in_vectors);
  plan.groups = static_cast<int>(std::clamp<std::int64_t>(sizes.threads / plan.threads, 1, kMaxGroups));
  plan.groups = static_cast<int>(std::min<std::int64_t>(plan.groups, shape.rows));
  NormPlan largest = plan_of_a_row(shape, /*in_vectors=*/true);
  largest.groups = plan.groups;
  const std::int64_t held_by_shared =
      device.shared_bytes / (shared_bytes(pass, shape, largest) + kNormOtherSharedBytes);
  if (held_by_shared == 0) plan.width_of_vector = 1;  // without slots
  plan.shared_bytes = shared_bytes(pass, shape, plan);
  const std::int64_t held_by_registers = norm_max_threads(plan.elements) / (plan.threads * plan.groups);
  const std::int64_t at_once =
      std::max<std::int64_t>(std::min({sizes.blocks, held_by_shared, held_by_registers}), 1) * device.multiprocessors;
  // In the forward pass, rows that are not copied ahead have one CTA each, so that the next CTA's loads overlap the
  // current CTA's sum.
  const bool is_one_round =
      pass == NormPass::kForward && norm_rows_ahead(pass, plan.width_of_vector, plan.elements) == 0;
  const std::int64_t all = ceil_div(shape.rows, plan.groups);
  plan.blocks = is_one_round ? all : std::min(all, at_once);
  return plan;
}

}  // namespace tbench::kernels

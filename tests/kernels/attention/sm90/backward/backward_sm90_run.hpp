// Hopper's backward kernels at every shape, whether or not the dispatch would choose them there.
#pragma once

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"
#include "support/attention_run.hpp"
#include "support/sm90_here.hpp"

namespace tbench::kernels::sm90 {

/// Of either precision.
struct BackwardInstance {
  std::int64_t head_dim{};
  BackwardBlocks blocks{};
  BackwardSums sums{};
};
inline constexpr std::array kBackwardInstances{
    BackwardInstance{64, BackwardBlocks::kStay},     BackwardInstance{64, BackwardBlocks::kStay, BackwardSums::kApart},
    BackwardInstance{80, BackwardBlocks::kStay},     BackwardInstance{80, BackwardBlocks::kStay, BackwardSums::kApart},
    BackwardInstance{80, BackwardBlocks::kOneItem},  BackwardInstance{128, BackwardBlocks::kStay, BackwardSums::kApart},
    BackwardInstance{128, BackwardBlocks::kOneItem}, BackwardInstance{256, BackwardBlocks::kOneItem}};

inline std::string name_of(const BackwardInstance& instance) {
  const bool stays = instance.blocks == BackwardBlocks::kStay, apart = instance.sums == BackwardSums::kApart;
  return fmt::format("d{}_{}", instance.head_dim, apart ? "apart" : stays ? "stay" : "one_item");
}

/// Sums apart are of few tiles of keys.
inline bool takes(const BackwardInstance& instance, std::int64_t seq_kv) {
  return instance.sums == BackwardSums::kTogether || seq_kv <= kMostSumsApart * kBackwardKeys;
}

/// How blocks that stay come by their items: those of a multiprocessor in turns, or as if there were a multiprocessor
/// for every item.
enum class Dealing { kAmongMultiprocessors, kBlockEach };

template <BackwardBlocks kBlocks, BackwardSums kSums, Dealing kDealing>
void enqueue_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const auto backward =
      problem.precision == Precision::kBf16 ? &launch_backward<Precision::kBf16> : &launch_backward<Precision::kFp16>;
  DeviceLimits limits = current_device_limits();
  if (kDealing == Dealing::kBlockEach) limits.multiprocessors = std::numeric_limits<int>::max();
  backward(problem, arguments, {.blocks = kBlocks, .sums = kSums}, limits, stream);
}

inline BackwardOptions backward_sm90(const AttentionProblem& problem, const BackwardInstance& instance,
                                     Dealing dealing = Dealing::kAmongMultiprocessors) {
  using enum BackwardBlocks;
  using enum BackwardSums;
  using enum Dealing;
  auto enqueue = &enqueue_backward<kOneItem, kTogether, kAmongMultiprocessors>;
  if (instance.blocks == kStay && instance.sums == kTogether) {
    enqueue = dealing == kBlockEach ? &enqueue_backward<kStay, kTogether, kBlockEach>
                                    : &enqueue_backward<kStay, kTogether, kAmongMultiprocessors>;
  } else if (instance.blocks == kStay) {
    enqueue = dealing == kBlockEach ? &enqueue_backward<kStay, kApart, kBlockEach>
                                    : &enqueue_backward<kStay, kApart, kAmongMultiprocessors>;
  }
  BackwardOptions options;
  options.launch = BackwardLaunch{enqueue, backward_workspace(problem.shape, instance.sums).bytes()};
  return options;
}

}  // namespace tbench::kernels::sm90

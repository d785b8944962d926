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
};
inline constexpr std::array kBackwardInstances{
    BackwardInstance{64, BackwardBlocks::kStay}, BackwardInstance{80, BackwardBlocks::kStay},
    BackwardInstance{80, BackwardBlocks::kOneItem}, BackwardInstance{128, BackwardBlocks::kOneItem}};

inline std::string name_of(const BackwardInstance& instance) {
  return fmt::format("d{}_{}", instance.head_dim, instance.blocks == BackwardBlocks::kStay ? "stay" : "one_item");
}

/// How blocks that stay come by their items: those of a multiprocessor in turns, or as if there were a multiprocessor
/// for every item.
enum class Dealing { kAmongMultiprocessors, kBlockEach };

template <BackwardBlocks kBlocks, Dealing kDealing>
void enqueue_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const auto backward = problem.precision == Precision::kBf16 ? &backward_bf16 : &backward_fp16;
  DeviceLimits limits = current_device_limits();
  if (kDealing == Dealing::kBlockEach) limits.multiprocessors = std::numeric_limits<int>::max();
  backward(problem, arguments, kBlocks, limits, stream);
}

inline BackwardOptions backward_sm90(const AttentionProblem& problem, BackwardBlocks blocks,
                                     Dealing dealing = Dealing::kAmongMultiprocessors) {
  using enum BackwardBlocks;
  const auto stay = dealing == Dealing::kBlockEach ? &enqueue_backward<kStay, Dealing::kBlockEach>
                                                   : &enqueue_backward<kStay, Dealing::kAmongMultiprocessors>;
  BackwardOptions options;
  options.launch = BackwardLaunch{blocks == kStay ? stay : &enqueue_backward<kOneItem, Dealing::kAmongMultiprocessors>,
                                  backward_workspace(problem.shape).bytes()};
  return options;
}

}  // namespace tbench::kernels::sm90

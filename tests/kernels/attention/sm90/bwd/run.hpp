// Runs the sm90 backward kernels, including the TF32 ones, at every shape, whether or not the dispatch would select
// them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"
#include "support/attention_run.hpp"
#include "support/sm90_here.hpp"

namespace tbench::kernels::sm90 {

/// A kernel for both 16-bit precisions.
struct BackwardInstance {
  std::int64_t head_dim{};
  BwdPlan choice;
};
constexpr BwdPlan kStays{BwdSchedule::kPersistent, DqAccumulation::kAtomic};
constexpr BwdPlan kStaysApart{BwdSchedule::kPersistent, DqAccumulation::kPerKvTile};
constexpr BwdPlan kPerHead{BwdSchedule::kPersistent, DqAccumulation::kPerHead};
constexpr BwdPlan kByHeadsShared{BwdSchedule::kPersistent, DqAccumulation::kPerHead, /*shares=*/2};
constexpr BwdPlan kBlockEachItem{BwdSchedule::kOneTilePerCta, DqAccumulation::kAtomic};
constexpr BwdPlan kOfTwoKinds{BwdSchedule::kPersistent, DqAccumulation::kNone};
constexpr BwdPlan kOfTwoKindsAlone{.blocks = BwdSchedule::kPersistent, .sums = DqAccumulation::kNone, .is_alone = true};
inline constexpr std::array kBackwardInstances{
    BackwardInstance{64, kStays},         BackwardInstance{64, kStaysApart},     BackwardInstance{64, kPerHead},
    BackwardInstance{64, kByHeadsShared}, BackwardInstance{64, kOfTwoKinds},     BackwardInstance{64, kOfTwoKindsAlone},
    BackwardInstance{80, kStays},         BackwardInstance{80, kStaysApart},     BackwardInstance{80, kPerHead},
    BackwardInstance{128, kStaysApart},   BackwardInstance{128, kBlockEachItem}, BackwardInstance{256, kBlockEachItem}};

inline bool is_by_heads(const BackwardInstance& instance) { return instance.choice.sums == DqAccumulation::kPerHead; }

inline std::string name_of(const BackwardInstance& instance) {
  const BwdPlan& choice = instance.choice;
  const char* name = choice.blocks == BwdSchedule::kOneTilePerCta ? "one_item"
                     : choice == kStays                           ? "stay"
                     : choice == kStaysApart                      ? "apart"
                     : choice == kPerHead                         ? "heads"
                     : choice == kOfTwoKinds                      ? "kinds"
                     : choice == kOfTwoKindsAlone                 ? "kinds_alone"
                                                                  : "heads_shared";
  return fmt::format("d{}_{}", instance.head_dim, name);
}

/// Returns whether the instance serves a shape: partial dQ is for few K/V tiles, and one CTA per head for short
/// sequences.
inline bool takes(const BackwardInstance& instance, const AttentionShape& shape) {
  if (instance.choice == kStaysApart) return shape.seq_kv <= kMaxSumsApart * kBackwardKeys;
  if (!is_by_heads(instance)) return true;
  return shape.seq_q <= kMaxHeadRows && shape.seq_kv <= kMaxHeadRows &&
         instance.choice.shares <= block_count(shape.seq_kv, kBackwardKeys);
}

/// Returns a problem for which select_backward() selects the instance on 132 SMs.
inline AttentionProblem chosen_problem(const BackwardInstance& instance, Precision precision) {
  const BwdPlan& choice = instance.choice;
  const bool is_narrow = instance.head_dim == 64, is_one_item = choice.blocks == BwdSchedule::kOneTilePerCta;
  const std::int64_t heads = choice == kPerHead ? 100 : choice == kByHeadsShared ? 64 : 36;  // in four batches
  AttentionShape shape{.batch = 4, .heads = heads / 4, .head_dim = instance.head_dim, .causal = true};
  shape.seq_q = shape.seq_kv = is_one_item                          ? 2048
                               : choice == kOfTwoKindsAlone         ? 128
                               : is_narrow && choice != kOfTwoKinds ? 1024
                                                                    : 512;
  // At head_dim 64, shapes with fewer keys use the split backward pass, except without a mask or with different
  // lengths.
  if (is_narrow && choice == kPerHead) shape = {4, heads / 4, 256, 256, 64, false};
  if (is_narrow && choice == kStaysApart) shape = {4, heads / 4, 440, 512, 64, false};
  AttentionProblem problem = attention_problem(shape, precision);
  problem.deterministic = choice == kStaysApart || choice == kByHeadsShared;
  return problem;
}

/// Returns whether dQ also has the same bits in every run.
inline bool is_deterministic(const BackwardInstance& instance) {
  return instance.choice.sums != DqAccumulation::kAtomic;
}

/// Number of persistent CTAs in a static schedule: one per SM, or as if every work tile had an SM.
enum class Dealing { kAmongMultiprocessors, kBlockEach };

inline BackwardOptions backward_sm90(const AttentionProblem& problem, const BackwardInstance& instance,
                                     Dealing dealing = Dealing::kAmongMultiprocessors) {
  const BwdPlan choice = instance.choice;
  const auto enqueue = [choice, dealing](const AttentionProblem& one, const AttentionBackward& arguments,
                                         cudaStream_t stream) {
    const bool is_bf16 = one.precision == Precision::kBf16;
    const auto backward =
        one.shape.group() == 1
            ? (is_bf16 ? &launch_backward<Precision::kBf16> : &launch_backward<Precision::kFp16>)
            : (is_bf16 ? &launch_gqa_backward<Precision::kBf16> : &launch_gqa_backward<Precision::kFp16>);
    DeviceLimits limits = current_device_limits();
    if (dealing == Dealing::kBlockEach) limits.multiprocessors = std::numeric_limits<int>::max();
    backward(one, arguments, choice, limits, stream);
  };
  BackwardOptions options;
  options.launch = BackwardLaunch{enqueue, backward_workspace(problem.shape, choice).bytes()};
  return options;
}

/// Returns the plan of the TF32 kernels, with ping-pong order if the rules select it.
inline sm90_tf32::BwdPlan planned_tf32(const AttentionProblem& problem) {
  return {.pingpong = problem.shape.head_dim == 128 && problem.shape.seq_q >= 1024};
}

/// Returns options that run the TF32 kernels, with ping-pong order if the rules select it.
inline BackwardOptions backward_tf32_sm90(const AttentionProblem& problem) {
  BackwardOptions options;
  const auto enqueue = [](const AttentionProblem& one, const AttentionBackward& arguments, cudaStream_t stream) {
    sm90_tf32::launch_backward(one, arguments, planned_tf32(one), stream);
  };
  options.launch = BackwardLaunch{enqueue, sm90_tf32::backward_workspace(problem.shape).bytes()};
  return options;
}

}  // namespace tbench::kernels::sm90

// Cases of a training step that all ranks of a run perform together, each on its part of a batch. The interface does
// not use LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/model_case.hpp"
#include "tbench/ranks/group.hpp"

namespace tbench {
namespace model {

/// How ranks compute the mean of their gradients, and which rank updates which parameters.
/// - `none`: no communication. All ranks run steps at the same time, each by itself. This is the baseline of the other
///   strategies.
/// - `naive`: after backward, one all-reduce per parameter tensor.
/// - `flat`: after backward, all gradients are copied into one buffer per dtype, all-reduced and copied back.
/// - `bucketed`: after backward, gradients are copied to buckets; a bucket is all-reduced while the next one is filled.
///   Gradients stay in the buckets.
/// - `overlapped`: the same buckets, filled by autograd hooks and all-reduced during backward.
/// - `reducer`: the same by c10d's Reducer, the engine of PyTorch's DistributedDataParallel.
/// - `sharded_optimizer`: a reduce-scatter gives each rank the mean of its share of the gradients. The rank keeps the
///   optimizer's state of this share alone and updates it; an all-gather then distributes the parameters (ZeRO, stage
///   1).
/// @see  Li and others, PyTorch Distributed (arXiv:2006.15704), section 3.2; Rajbhandari and others, ZeRO
///       (arXiv:1910.02054), section 5.1
enum class ParallelStrategy { kNone, kNaive, kFlat, kBucketed, kOverlapped, kReducer, kShardedOptimizer };

/// Whether the strategy has buckets, and thus reads DataParallelConfig::bucket_bytes.
[[nodiscard]] constexpr bool has_buckets(ParallelStrategy strategy) {
  return strategy == ParallelStrategy::kBucketed || strategy == ParallelStrategy::kOverlapped ||
         strategy == ParallelStrategy::kReducer;
}

struct DataParallelConfig {
  /// The model of one rank, with `batch` sequences per rank. make_data_parallel_case() sets `pass` and `part`.
  ModelConfig model;
  ParallelStrategy strategy{};
  /// Bytes at which a bucket is full; only read if has_buckets(strategy).
  std::int64_t bucket_bytes{};
};

/// Makes a data-parallel training case. The phases of a step are forward, backward with the synchronization of
/// gradients, and the optimizer with the exchange of parameters.
/// - verify() runs the step once and compares as the case of make_model_case() does, but gradients and updates must
///   match the batch of all ranks, whose reference each rank computes by itself in higher precision. All ranks must end
///   with bitwise equal parameters. verify_again() repeats this with other weights and sequences.
/// - work() counts the tokens of all ranks and the FLOP of one rank, so that FLOP rates are per GPU.
/// - The counter `communication_bytes` is the data that a rank passes to collective operations in a step: the gradients
///   for an all-reduce and a reduce-scatter, its share for an all-gather.
/// - live_tensors() also has `communication_buffers`, which hold gradients between backward and the optimizer. A
///   gradient that is not yet copied into them is a temporary of backward.
/// - Execution::kGraph works as in make_model_case(), with the collective operations in the graphs. `reducer` does not
///   support it.
/// - With an impl that makes its own passes, strategies that need autograd are `unsupported`. So is `sharded_optimizer`
///   if the impl keeps copies of the parameters.
/// @param group  the run's ranks; must outlive the case
/// @throws       UsageError  as make_model_case(); for fp16, whose ranks would have to agree on the steps that they
///                           skip; if a strategy with buckets has bucket_bytes of 0 or less
[[nodiscard]] std::unique_ptr<Case> make_data_parallel_case(DataParallelConfig config, ranks::Group& group);

}  // namespace model

template <>
struct EnumNames<model::ParallelStrategy> {
  static constexpr std::array<std::string_view, 7> kNames{
      "none", "naive", "flat", "bucketed", "overlapped", "reducer", "sharded_optimizer"};
};

}  // namespace tbench

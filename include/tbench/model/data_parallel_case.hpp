// A training step that the ranks of a run make together, each on its part of a batch, as a case. Free of LibTorch in
// its interface.
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

/// How ranks come to the mean of their gradients, and who updates what.
/// - `none`: not at all. Every rank makes steps by itself, all at the same time: what the others are held against.
/// - `naive`: behind backward, one all-reduce a parameter tensor.
/// - `flat`: behind backward, all gradients copied into one buffer (one a dtype), an all-reduce of it, copied back.
/// - `bucketed`: behind backward, in buckets that are reduced while the next ones are filled. Gradients stay in them.
/// - `overlapped`: the same buckets from hooks of autograd, reduced while backward goes on.
/// - `reducer`: as c10d's Reducer does that, the engine of PyTorch's DistributedDataParallel.
/// - `sharded_optimizer`: a rank gets the mean of one share of the gradients (reduce-scatter), has the optimizer's
///   state of it alone and updates it; then all gather the parameters (ZeRO, stage 1).
/// @see  Li and others, PyTorch Distributed (arXiv:2006.15704), section 3.2; Rajbhandari and others, ZeRO
///       (arXiv:1910.02054), section 5.1
enum class ParallelStrategy { kNone, kNaive, kFlat, kBucketed, kOverlapped, kReducer, kShardedOptimizer };

/// Whether the strategy has buckets, whose size is to be chosen.
[[nodiscard]] constexpr bool has_buckets(ParallelStrategy strategy) {
  return strategy == ParallelStrategy::kBucketed || strategy == ParallelStrategy::kOverlapped ||
         strategy == ParallelStrategy::kReducer;
}

struct DataParallelConfig {
  /// The model of one rank, with `batch` sequences per rank out of a batch of all ranks together. Its pass and its part
  /// are set here.
  ModelConfig model;
  ParallelStrategy strategy{};
  /// A bucket is closed once it holds as much; read where there are buckets.
  std::int64_t bucket_bytes{};
};

/// A step is forward, backward with the exchange of gradients, and the optimizer with the exchange of parameters, in
/// these phases. verify() runs it once and compares as make_model_case() does, but for gradients and updates, which
/// have to be the gradients and updates of the batch of all ranks: each rank computes these in higher precision by
/// itself. All ranks must end with parameters of the same bits. verify_again() does it with other weights and
/// sequences. work() has the tokens of all ranks and the FLOP of one: rates of FLOP are per GPU. The counter
/// `communication_bytes` is the data that a rank gives to collective operations in a step: the gradients for an
/// all-reduce and a reduce-scatter, its share for an all-gather. live_tensors() has `communication_buffers` besides:
/// what holds gradients between backward and the optimizer. What is on its way into them is a temporary of backward.
/// Execution::kGraph is as make_model_case() has it, with the collective operations in the graphs; not of `reducer`.
/// Strategies that need autograd, and a share of the optimizer of a model that keeps copies of its parameters, are
/// `unsupported` with an impl that makes its own passes.
/// @param group  outlives the case
/// @throws       UsageError  as make_model_case(); for fp16, whose ranks would have to agree on the steps they skip;
///                           for buckets of no bytes
[[nodiscard]] std::unique_ptr<Case> make_data_parallel_case(DataParallelConfig config, ranks::Group& group);

}  // namespace model

template <>
struct EnumNames<model::ParallelStrategy> {
  static constexpr std::array<std::string_view, 7> kNames{
      "none", "naive", "flat", "bucketed", "overlapped", "reducer", "sharded_optimizer"};
};

}  // namespace tbench

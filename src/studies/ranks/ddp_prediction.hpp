// A data-parallel step predicted: from the step of one GPU by itself, the collectives that were measured, and when
// which gradients are there to be exchanged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "studies/ranks/collective_times.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/units.hpp"

namespace tbench::studies {

/// Which parameters of a layer are one tensor, with one gradient.
struct TensorLayout {
  bool joined_qkv{};      // q, k and v
  bool joined_gate_up{};  // w1 and w3
};

struct GradientTensor {
  std::int64_t elements{};
  double backward_share{};  // of the backward pass's FLOP, those that are done when this gradient is complete: 0 to 1
};

/// The parameter tensors in the order in which a backward pass completes their gradients, the reverse of their use: LM
/// head, last norm; of each layer from the last to the first w2, w1 and w3, norm, output projection, q, k and v, norm;
/// embedding. FLOP as in model_step_work(): 4 * tokens * elements of a matrix, attention's core 2.5 times its forward,
/// between output projection and q, k, v; norms and the embedding have none.
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] std::vector<GradientTensor> gradient_order(const ModelSize& size, std::int64_t context,
                                                         std::int64_t batch, const TensorLayout& layout);

/// Values of DataParallel's key `strategy`. `none`: every GPU steps by itself, all at the same time.
enum class DdpStrategy { kNone, kNaive, kFlat, kBucketed, kOverlapped, kReducer, kShardedOptimizer };

/// One GPU's step without any exchange: medians of `strategy:none`.
struct IsolatedStep {
  Seconds step;
  Seconds backward;
  Seconds optimizer;
};

struct DdpPlan {
  DdpStrategy strategy{};
  std::int64_t gpus{};                        // > 1
  std::span<const GradientTensor> gradients;  // in the order of gradient_order(), not empty
  double gradient_bytes{};                    // of an element; those of a parameter are kParameterBytes
  double bucket_bytes{};                      // of the strategies with buckets, > 0
  std::optional<double> copy_per_second{};    // bytes read and written, of a copy in memory
  std::optional<double> overlap_cost{};       // overlap_cost() of products and an exchange, >= 0
};

/// Weights are float32 in every precision.
inline constexpr double kParameterBytes = 4;

struct DdpPrediction {
  Seconds step;
  Seconds communication;  // all collectives of a step, one after the other
  Seconds exposed;        // the part of it during which nothing is computed
};

/// A bucket of gradients: how large it is, and how much of the backward pass's FLOP is done when its last is complete.
struct GradientBucket {
  double bytes{};
  double backward_share{};
};

/// The cost of hiding an exchange behind computation, as a share of the shorter one's time: 0 where both at once take
/// as long as the longer one alone, 1 where they take as long as one after the other. Never negative.
/// @throws  std::invalid_argument  for a time that is not positive
[[nodiscard]] double overlap_cost(Seconds products, Seconds exchange, Seconds both);

/// Tensors join a bucket in their order until it holds at least `bucket_bytes`, the first one `first_bytes`; 0: a
/// bucket a tensor.
/// @see  PyTorch, torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(std::span<const GradientTensor> gradients,
                                                           double gradient_bytes, double bucket_bytes,
                                                           double first_bytes);

/// With n GPUs, P the bytes of all gradients, T(bytes) an all-reduce's time, C(bytes) = 2 bytes / copy rate the time of
/// a copy into a buffer, which reads and writes (0 without a rate), and `isolated` the step by itself:
/// - naive:    isolated + the sum over tensors of T(tensor), all after the backward pass
/// - flat:     isolated + C(P) + T(P) + C(P): into one buffer and back
/// - bucketed: after the backward pass buckets are copied one after the other, and bucket i starts at the later of its
///             copy's end and the end of bucket i - 1. Exposed is what ends after the last copy: isolated + C(P) +
///             exposed
/// - overlapped, reducer: the same, but bucket i is ready at backward * its backward_share + C(buckets up to i), and
///             exposed is what ends after backward + C(P). What is not exposed takes overlap_cost of its time from the
///             backward pass (nothing without it). The reducer's first bucket closes at 1 MiB where the others have its
///             default of 25, as torch/nn/parallel/distributed.py, _ddp_init_helper, sets it up
/// - sharded_optimizer: isolated - optimizer + C(P) + T_reduce_scatter(P in parts of kScatterBytes) + optimizer / n +
///             T_all_gather(all parameters)
/// Left out: the host's part, the wait of ranks for the slowest one, and the part of the backward pass that FLOP do not
/// explain.
/// @return  nothing where an operation that the strategy needs was not measured, and for `none`
/// @throws  std::invalid_argument  for a plan that is not as it says
[[nodiscard]] std::optional<DdpPrediction> predict_step(const IsolatedStep& isolated, const DdpPlan& plan,
                                                        const CollectiveTimes& times);

}  // namespace tbench::studies

namespace tbench {

template <>
struct EnumNames<studies::DdpStrategy> {
  static constexpr std::array<std::string_view, 7> kNames{
      "none", "naive", "flat", "bucketed", "overlapped", "reducer", "sharded_optimizer"};
};

}  // namespace tbench

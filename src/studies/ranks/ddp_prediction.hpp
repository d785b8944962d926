// Predicts a data-parallel step from the step of one GPU by itself, the measured collectives, and the times at which
// the gradients become ready.
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

/// The parameters of a layer that are joined in one tensor, with one gradient.
struct TensorLayout {
  bool joined_qkv{};      // q, k and v are one tensor
  bool joined_gate_up{};  // w1 and w3 are one tensor
};

struct GradientTensor {
  std::int64_t elements{};
  double backward_share{};  // share of the backward pass's FLOP done when this gradient is complete, 0 to 1
};

/// Returns the parameter tensors in the order in which a backward pass completes their gradients, the reverse of their
/// use. The order is: LM head, last norm, then for each layer from the last to the first w2, w1 and w3, norm, output
/// projection, q, k and v, norm, and finally the embedding. The FLOP agree with model_step_work(): 4 * tokens *
/// elements for a matrix, and 2.5 times the forward FLOP for the core of attention, between output projection and q, k,
/// v. Norms and the embedding have no FLOP.
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] std::vector<GradientTensor> gradient_order(const ModelSize& size, std::int64_t context,
                                                         std::int64_t batch, const TensorLayout& layout);

/// The values of DataParallel's key `strategy`. With `none`, all GPUs step at the same time, each by itself.
enum class DdpStrategy { kNone, kNaive, kFlat, kBucketed, kOverlapped, kReducer, kShardedOptimizer };

/// The step of one GPU without communication: medians of `strategy:none`.
struct IsolatedStep {
  Seconds step;
  Seconds backward;
  Seconds optimizer;
};

struct DdpPlan {
  DdpStrategy strategy{};
  std::int64_t gpus{};                        // > 1
  std::span<const GradientTensor> gradients;  // in the order of gradient_order(), not empty
  double gradient_bytes{};                    // bytes per gradient element; a parameter has kParameterBytes
  double bucket_bytes{};                      // > 0 for the strategies with buckets; the others do not use it
  std::optional<double> copy_per_second{};    // rate of a copy in memory, bytes read and written per second
  std::optional<double> overlap_cost{};       // overlap_cost() of products and communication, >= 0
};

/// The bytes per parameter. Weights are float32 in every precision.
inline constexpr double kParameterBytes = 4;

struct DdpPrediction {
  Seconds step;
  Seconds communication;  // sum of the times of all collectives of a step
  Seconds exposed;        // the part of the communication during which nothing is computed
};

/// A bucket of gradients.
struct GradientBucket {
  double bytes{};
  double backward_share{};  // share of the backward pass's FLOP done when the bucket's last gradient is complete
};

/// Returns the cost of hiding communication behind computation, divided by the shorter of the two times. It is 0 if
/// both at once take as long as the longer one alone, and 1 if they take as long as one after the other. It is never
/// negative.
/// @throws  std::invalid_argument  for a time that is not positive
[[nodiscard]] double overlap_cost(Seconds products, Seconds exchange, Seconds both);

/// Divides tensors into buckets. Tensors are added to a bucket in their order until it has at least `bucket_bytes`, or
/// `first_bytes` for the first bucket. With 0, every tensor has its own bucket.
/// @see  PyTorch, torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size
[[nodiscard]] std::vector<GradientBucket> gradient_buckets(std::span<const GradientTensor> gradients,
                                                           double gradient_bytes, double bucket_bytes,
                                                           double first_bytes);

/// Predicts the step of a strategy. Let n be the number of GPUs, P the bytes of all gradients, T(bytes) the time of an
/// all-reduce, and `isolated` the step by itself. C(bytes) = 2 bytes / copy rate is the time of a copy into a buffer,
/// which reads and writes the bytes (0 without a rate). The step takes:
/// - naive:    isolated + the sum over tensors of T(tensor), all after the backward pass
/// - flat:     isolated + C(P) + T(P) + C(P), with the copies into one buffer and back
/// - bucketed: isolated + C(P) + exposed. After the backward pass, buckets are copied one after the other. The
///             all-reduce of bucket i starts when its copy and the all-reduce of bucket i - 1 have ended. Exposed is
///             the time after the last copy
/// - overlapped, reducer: as bucketed, but bucket i is ready at backward * its backward_share + C(buckets up to i), and
///             exposed is the time after backward + C(P). The hidden part of the communication prolongs the step by
///             overlap_cost times its length (0 without an overlap cost). The reducer's first bucket closes at 1 MiB if
///             the bucket size is the default of 25 MiB, as in torch/nn/parallel/distributed.py, _ddp_init_helper
/// - sharded_optimizer: isolated - optimizer + C(P) + T_reduce_scatter(P in parts of kScatterBytes) + optimizer / n +
///             T_all_gather(all parameters)
/// The prediction leaves out the host's part, the wait of ranks for the slowest rank, and the part of the backward pass
/// that FLOP do not explain.
/// @return  nullopt for `none`, or if an operation that the strategy needs was not measured
/// @throws  std::invalid_argument  for a plan outside the limits in the comments of DdpPlan
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

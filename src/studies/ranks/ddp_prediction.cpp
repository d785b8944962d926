#include "studies/ranks/ddp_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tbench/core/step_counts.hpp"
#include "tbench/core/work.hpp"

namespace tbench::studies {
namespace {

/// Collects tensors with the FLOP done so far. The shares are computed at the end, when the sum is known.
class BackwardPass {
 public:
  explicit BackwardPass(std::int64_t tokens) : tokens_{static_cast<double>(tokens)} {}

  void work(Flop flop) { done_ = done_ + flop; }
  /// Adds a weight matrix. Its backward pass has two matrix products, for the gradients of the input and of the weight.
  void matrix(std::int64_t elements) {
    constexpr double kFlopPerElement = 4;  // two products with a multiplication and an addition each
    work(Flop{kFlopPerElement * tokens_ * static_cast<double>(elements)});
    without_flop(elements);
  }
  void matrices(std::int64_t count, std::int64_t elements, bool are_joined) {
    for (std::int64_t i = 0; i < (are_joined ? 1 : count); ++i) matrix(are_joined ? count * elements : elements);
  }
  void without_flop(std::int64_t elements) {
    tensors_.push_back({.elements = elements, .backward_share = done_.value});
  }
  [[nodiscard]] std::vector<GradientTensor> tensors() && {
    for (GradientTensor& tensor : tensors_) tensor.backward_share /= done_.value;
    return std::move(tensors_);
  }

 private:
  double tokens_;
  Flop done_;
  std::vector<GradientTensor> tensors_;
};

/// The defaults of PyTorch, torch/csrc/distributed/c10d/reducer.hpp: kDefaultBucketBytesCap, kDefaultFirstBucketBytes.
constexpr double kReducerDefaultBytes = 25 * 1024.0 * 1024.0;
constexpr double kReducerFirstBytes = 1024.0 * 1024.0;

std::vector<GradientBucket> buckets_of(const DdpPlan& plan) {
  const double bytes = plan.strategy == DdpStrategy::kNaive ? 0 : plan.bucket_bytes;
  const bool has_small_first = plan.strategy == DdpStrategy::kReducer && bytes == kReducerDefaultBytes;
  const double first = has_small_first ? kReducerFirstBytes : bytes;
  return gradient_buckets(plan.gradients, plan.gradient_bytes, bytes, first);
}

void check(const DdpPlan& plan) {
  const bool has_buckets = plan.strategy == DdpStrategy::kBucketed || plan.strategy == DdpStrategy::kOverlapped ||
                           plan.strategy == DdpStrategy::kReducer;
  if (plan.gpus > 1 && !plan.gradients.empty() && plan.gradient_bytes > 0 && (!has_buckets || plan.bucket_bytes > 0) &&
      (!plan.copy_per_second || *plan.copy_per_second > 0) && (!plan.overlap_cost || *plan.overlap_cost >= 0)) {
    return;
  }
  throw std::invalid_argument{
      fmt::format("predict_step: {} between {} GPUs, {} tensors of {} bytes an element, buckets "
                  "of {} bytes",
                  to_string(plan.strategy), plan.gpus, plan.gradients.size(), plan.gradient_bytes, plan.bucket_bytes)};
}

double elements_of(const DdpPlan& plan) {
  double elements = 0;
  for (const GradientTensor& tensor : plan.gradients) elements += static_cast<double>(tensor.elements);
  return elements;
}

/// Returns the prediction for a strategy whose collectives all run while nothing is computed.
DdpPrediction all_exposed(Seconds computed, Seconds communication) {
  return {.step = computed + communication, .communication = communication, .exposed = communication};
}

/// Returns C(bytes) of predict_step().
Seconds copy_time(const DdpPlan& plan, double bytes) {
  constexpr double kReadAndWritten = 2;
  return Seconds{plan.copy_per_second ? kReadAndWritten * bytes / *plan.copy_per_second : 0};
}

/// Predicts all strategies but flat and sharded_optimizer: each bucket is exchanged once it is ready and the previous
/// bucket has ended.
std::optional<DdpPrediction> in_buckets(const IsolatedStep& isolated, const DdpPlan& plan,
                                        const CollectiveTimes& times) {
  const bool is_overlapped = plan.strategy == DdpStrategy::kOverlapped || plan.strategy == DdpStrategy::kReducer;
  const bool is_copied = plan.strategy != DdpStrategy::kNaive;
  Seconds communication;
  Seconds copies;
  Seconds end;  // end of the previous bucket's all-reduce, counted from the start of the backward pass
  for (const GradientBucket& bucket : buckets_of(plan)) {
    const std::optional<Seconds> time = times.time(CollectiveOp::kAllReduce, plan.gpus, bucket.bytes);
    if (!time) return std::nullopt;
    if (is_copied) copies = copies + copy_time(plan, bucket.bytes);
    const Seconds ready = isolated.backward * (is_overlapped ? bucket.backward_share : 1) + copies;
    end = std::max(ready, end) + *time;
    communication = communication + *time;
  }
  const Seconds exposed = std::max(Seconds{}, end - (isolated.backward + copies));
  const Seconds taken = (communication - exposed) * (is_overlapped ? plan.overlap_cost.value_or(0) : 0);
  return DdpPrediction{
      .step = isolated.step + copies + exposed + taken, .communication = communication, .exposed = exposed};
}

std::optional<DdpPrediction> flat(const IsolatedStep& isolated, const DdpPlan& plan, const CollectiveTimes& times) {
  const double bytes = elements_of(plan) * plan.gradient_bytes;
  const std::optional<Seconds> time = times.time(CollectiveOp::kAllReduce, plan.gpus, bytes);
  if (!time) return std::nullopt;
  return all_exposed(isolated.step + copy_time(plan, bytes) * 2, *time);
}

/// Predicts the time of a reduce-scatter in parts of kScatterBytes, one after the other.
std::optional<Seconds> reduce_scatter_time(const DdpPlan& plan, const CollectiveTimes& times, double bytes) {
  const double part = static_cast<double>(kScatterBytes), whole_parts = std::floor(bytes / part);
  const double rest = bytes - whole_parts * part;
  const auto of_part = times.time(CollectiveOp::kReduceScatter, plan.gpus, part);
  const auto of_rest = times.time(CollectiveOp::kReduceScatter, plan.gpus, rest);
  if (!of_part || !of_rest) return std::nullopt;
  return *of_part * whole_parts + (rest > 0 ? *of_rest : Seconds{});
}

std::optional<DdpPrediction> sharded(const IsolatedStep& isolated, const DdpPlan& plan, const CollectiveTimes& times) {
  const double elements = elements_of(plan);
  const double bytes = elements * plan.gradient_bytes;
  const auto scattered = reduce_scatter_time(plan, times, bytes);
  const auto gathered = times.time(CollectiveOp::kAllGather, plan.gpus, elements * kParameterBytes);
  if (!scattered || !gathered) return std::nullopt;
  const Seconds own_optimizer = isolated.optimizer / static_cast<double>(plan.gpus);
  return all_exposed(isolated.step - isolated.optimizer + own_optimizer + copy_time(plan, bytes),
                     *scattered + *gathered);
}

}  // namespace

std::vector<GradientTensor> gradient_order(const ModelSize& size, std::int64_t context, std::int64_t batch,
                                           const TensorLayout& layout) {
  const Flop attention = attention_work({.batch = batch,
                                         .heads = size.num_heads,
                                         .seq_q = context,
                                         .seq_kv = context,
                                         .head_dim = size.head_dim(),
                                         .causal = true},
                                        AttentionPass::kBackward)
                             .flop;
  BackwardPass pass{batch * context};
  pass.matrix(size.vocab_size * size.d_model);
  pass.without_flop(size.d_model);
  for (std::int64_t layer = 0; layer < size.num_layers; ++layer) {
    pass.matrix(size.d_model * size.d_ff);
    pass.matrices(2, size.d_model * size.d_ff, layout.joined_gate_up);
    pass.without_flop(size.d_model);
    pass.matrix(size.d_model * size.d_model);
    pass.work(attention);
    pass.matrices(3, size.d_model * size.d_model, layout.joined_qkv);
    pass.without_flop(size.d_model);
  }
  pass.without_flop(size.vocab_size * size.d_model);
  return std::move(pass).tensors();
}

double overlap_cost(Seconds products, Seconds exchange, Seconds both) {
  if (products <= Seconds{} || exchange <= Seconds{} || both <= Seconds{}) {
    throw std::invalid_argument{
        fmt::format("overlap_cost: of {} s, {} s and {} s", products.value, exchange.value, both.value)};
  }
  return std::max(0.0, (both - std::max(products, exchange)) / std::min(products, exchange));
}

std::vector<GradientBucket> gradient_buckets(std::span<const GradientTensor> gradients, double gradient_bytes,
                                             double bucket_bytes, double first_bytes) {
  std::vector<GradientBucket> buckets;
  bool is_full = true;
  for (const GradientTensor& tensor : gradients) {
    if (is_full) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.bytes += static_cast<double>(tensor.elements) * gradient_bytes;
    bucket.backward_share = tensor.backward_share;
    is_full = bucket.bytes >= (buckets.size() == 1 ? first_bytes : bucket_bytes);
  }
  return buckets;
}

std::optional<DdpPrediction> predict_step(const IsolatedStep& isolated, const DdpPlan& plan,
                                          const CollectiveTimes& times) {
  check(plan);
  switch (plan.strategy) {
    case DdpStrategy::kNone:
      return std::nullopt;
    case DdpStrategy::kFlat:
      return flat(isolated, plan, times);
    case DdpStrategy::kNaive:
    case DdpStrategy::kBucketed:
    case DdpStrategy::kOverlapped:
    case DdpStrategy::kReducer:
      return in_buckets(isolated, plan, times);
    case DdpStrategy::kShardedOptimizer:
      return sharded(isolated, plan, times);
  }
  throw std::invalid_argument{"predict_step: not a DdpStrategy"};
}

}  // namespace tbench::studies

// The gradient synchronizations that begin when backward has ended: naive, flat and bucketed.
#include "model/data_parallel/gradient_syncs.hpp"

#include <ATen/core/grad_mode.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "model/data_parallel/buckets.hpp"

namespace tbench::model {
namespace {

class PerParameterSync final : public GradientSync {
 public:
  PerParameterSync(Trainer& trainer, ranks::Group& group)
      : leaves_{trainer.parameters().leaves()}, bytes_{gradient_bytes_of(leaves_)}, group_{group} {}

  void average(const std::function<void()>& backward) override {
    backward();
    for (const at::Tensor& leaf : leaves_) group_.mean(leaf.mutable_grad());
  }
  [[nodiscard]] std::int64_t step_bytes() const override { return bytes_; }
  [[nodiscard]] std::int64_t held_bytes() const override { return 0; }

 private:
  const std::vector<at::Tensor>& leaves_;
  std::int64_t bytes_;
  ranks::Group& group_;
};

class FlatSync final : public GradientSync {
 public:
  FlatSync(Trainer& trainer, ranks::Group& group)
      : leaves_{trainer.parameters().leaves()}, buffers_{make_buckets(leaves_, std::nullopt)}, group_{group} {}

  void average(const std::function<void()>& backward) override {
    backward();
    const at::NoGradGuard no_grad;
    for (Bucket& buffer : buffers_) {
      fill(buffer, leaves_);
      group_.mean(buffer.data);
      empty_into_gradients(buffer, leaves_);
    }
  }
  [[nodiscard]] std::int64_t step_bytes() const override { return bytes_of(buffers_); }
  [[nodiscard]] std::int64_t held_bytes() const override { return bytes_of(buffers_); }

 private:
  const std::vector<at::Tensor>& leaves_;
  std::vector<Bucket> buffers_;  // one per dtype
  ranks::Group& group_;
};

class BucketedSync final : public GradientSync {
 public:
  BucketedSync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes)
      : leaves_{trainer.parameters().leaves()}, buckets_{make_buckets(leaves_, bucket_bytes)}, group_{group} {}

  void average(const std::function<void()>& backward) override {
    backward();
    const at::NoGradGuard no_grad;
    std::vector<ranks::Pending> pending;
    for (Bucket& bucket : buckets_) {
      fill(bucket, leaves_);
      pending.push_back(group_.start_mean(bucket.data));
      show_as_gradients(bucket, leaves_);
    }
    for (ranks::Pending& one : pending) one.wait();
  }
  [[nodiscard]] std::int64_t step_bytes() const override { return bytes_of(buckets_); }
  [[nodiscard]] std::int64_t held_bytes() const override { return bytes_of(buckets_); }

 private:
  const std::vector<at::Tensor>& leaves_;
  std::vector<Bucket> buckets_;
  ranks::Group& group_;
};

}  // namespace

std::unique_ptr<GradientSync> make_per_parameter_sync(Trainer& trainer, ranks::Group& group) {
  return std::make_unique<PerParameterSync>(trainer, group);
}

std::unique_ptr<GradientSync> make_flat_sync(Trainer& trainer, ranks::Group& group) {
  return std::make_unique<FlatSync>(trainer, group);
}

std::unique_ptr<GradientSync> make_bucketed_sync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes) {
  return std::make_unique<BucketedSync>(trainer, group, bucket_bytes);
}

std::unique_ptr<GradientSync> make_gradient_sync(ParallelStrategy strategy, std::int64_t bucket_bytes, Trainer& trainer,
                                                 ranks::Group& group) {
  switch (strategy) {
    case ParallelStrategy::kNone:
      return nullptr;
    case ParallelStrategy::kNaive:
      return make_per_parameter_sync(trainer, group);
    case ParallelStrategy::kFlat:
      return make_flat_sync(trainer, group);
    case ParallelStrategy::kBucketed:
      return make_bucketed_sync(trainer, group, bucket_bytes);
    case ParallelStrategy::kOverlapped:
      return make_overlapped_sync(trainer, group, bucket_bytes);
    case ParallelStrategy::kReducer:
      return make_reducer_sync(trainer, group, bucket_bytes);
    case ParallelStrategy::kShardedOptimizer:
      return make_sharded_sync(trainer, group);
  }
  throw std::invalid_argument{"not a ParallelStrategy"};
}

}  // namespace tbench::model

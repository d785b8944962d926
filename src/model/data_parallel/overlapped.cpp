// The gradient synchronizations that overlap backward: our own buckets, started by autograd's hooks, and c10d's
// Reducer.
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <stdexcept>
#include <vector>

#include "model/data_parallel/buckets.hpp"
#include "model/data_parallel/gradient_syncs.hpp"
#include "tbench/ranks/reducer.hpp"

namespace tbench::model {
namespace {

class OverlappedSync final : public GradientSync {
 public:
  OverlappedSync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes);
  ~OverlappedSync() override {
    for (const at::Tensor& leaf : leaves_) torch::autograd::impl::set_post_acc_grad_hooks(leaf, nullptr);
  }

  void average(const std::function<void()>& backward) override;
  [[nodiscard]] std::int64_t step_bytes() const override { return bytes_of(buckets_); }
  [[nodiscard]] std::int64_t held_bytes() const override { return bytes_of(buckets_); }

 private:
  /// Autograd's hook on a leaf, called when its gradient is complete.
  struct Hook final : torch::autograd::PostAccumulateGradHook {
    Hook(OverlappedSync& to_tell, std::size_t of_bucket) : owner{to_tell}, bucket{of_bucket} {}
    void operator()(const at::Tensor& /*leaf*/) override { owner.gradient_came(bucket); }
    OverlappedSync& owner;
    std::size_t bucket;
  };

  void gradient_came(std::size_t bucket);

  const std::vector<at::Tensor>& leaves_;
  std::vector<Bucket> buckets_;
  ranks::Group& group_;
  std::vector<std::size_t> missing_;     // number of gradients that each bucket still lacks in this step
  std::vector<ranks::Pending> pending_;  // exchanges of the first buckets, in bucket order
};

OverlappedSync::OverlappedSync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes)
    : leaves_{trainer.parameters().leaves()}, buckets_{make_buckets(leaves_, bucket_bytes)}, group_{group} {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (const std::size_t leaf : buckets_[bucket].leaves) {
      torch::autograd::impl::set_post_acc_grad_hooks(leaves_[leaf], std::make_unique<Hook>(*this, bucket));
    }
  }
}

void OverlappedSync::average(const std::function<void()>& backward) {
  missing_.clear();
  pending_.clear();  // left by a step that ended with an error
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.leaves.size());
  backward();
  if (pending_.size() != buckets_.size()) {
    throw std::logic_error{"strategy:overlapped: a parameter has got no gradient, and its bucket was not synchronized"};
  }
  for (ranks::Pending& one : pending_) one.wait();
  pending_.clear();
}

/// Starts every complete bucket whose turn has come: all ranks must start the buckets in the same order, whichever
/// gradient comes first.
void OverlappedSync::gradient_came(std::size_t bucket) {
  --missing_.at(bucket);
  const at::NoGradGuard no_grad;
  while (pending_.size() < buckets_.size() && missing_[pending_.size()] == 0) {
    Bucket& whole = buckets_[pending_.size()];
    fill(whole, leaves_);
    show_as_gradients(whole, leaves_);
    pending_.push_back(group_.start_mean(whole.data));
  }
}

class ReducerSync final : public GradientSync {
 public:
  ReducerSync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes)
      : reducer_{group, trainer.parameters().leaves(), bucket_bytes} {}

  void average(const std::function<void()>& backward) override { reducer_.average(backward); }
  [[nodiscard]] std::int64_t step_bytes() const override { return reducer_.held_bytes(); }
  [[nodiscard]] std::int64_t held_bytes() const override { return reducer_.held_bytes(); }

 private:
  ranks::Reducer reducer_;
};

}  // namespace

std::unique_ptr<GradientSync> make_overlapped_sync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes) {
  return std::make_unique<OverlappedSync>(trainer, group, bucket_bytes);
}

std::unique_ptr<GradientSync> make_reducer_sync(Trainer& trainer, ranks::Group& group, std::int64_t bucket_bytes) {
  return std::make_unique<ReducerSync>(trainer, group, bucket_bytes);
}

}  // namespace tbench::model

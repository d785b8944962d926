// strategy:sharded_optimizer: gradients are reduce-scattered, the optimizer updates the rank's share of the parameters,
// which have one storage, and all ranks gather them.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

#include "model/data_parallel/exchanges.hpp"

namespace tbench::model {
namespace {

class ShardedExchange final : public GradientExchange {
 public:
  ShardedExchange(Trainer& trainer, ranks::Group& group)
      : parameters_{trainer.parameters()},
        group_{group},
        whole_{parameters_.whole()},
        share_{trainer.optimized().front()},
        gradients_{at::zeros_like(whole_)},
        share_gradient_{at::empty_like(share_)} {
    for (std::size_t leaf = 0; leaf < parameters_.leaves().size(); ++leaf) {
      views_.push_back(parameters_.leaf_of(gradients_, leaf));
    }
    share_.mutable_grad() = share_gradient_;
  }

  void average(const std::function<void()>& backward) override {
    backward();
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> made;
    made.reserve(views_.size());
    for (const at::Tensor& leaf : parameters_.leaves()) made.push_back(leaf.grad());
    at::_foreach_copy_(views_, made);
    made.clear();
    parameters_.clear_gradients();
    group_.mean_scatter(share_gradient_, gradients_);
  }
  void share_parameters() override { group_.all_gather(whole_, share_); }
  void show_gradients() override {
    group_.all_gather(gradients_, share_gradient_);
    for (std::size_t leaf = 0; leaf < views_.size(); ++leaf) parameters_.leaves()[leaf].mutable_grad() = views_[leaf];
  }
  [[nodiscard]] std::int64_t step_bytes() const override {
    return static_cast<std::int64_t>(gradients_.nbytes() + share_.nbytes());
  }
  [[nodiscard]] std::int64_t held_bytes() const override {
    return static_cast<std::int64_t>(gradients_.nbytes() + share_gradient_.nbytes());
  }

 private:
  Parameters& parameters_;
  ranks::Group& group_;
  at::Tensor whole_;               // parameters: [elements]
  at::Tensor share_;               // of them, this rank's: [elements / ranks]
  at::Tensor gradients_;           // as whole_
  at::Tensor share_gradient_;      // as share_
  std::vector<at::Tensor> views_;  // of gradients_, one a leaf
};

}  // namespace

std::unique_ptr<GradientExchange> make_sharded_exchange(Trainer& trainer, ranks::Group& group) {
  return std::make_unique<ShardedExchange>(trainer, group);
}

}  // namespace tbench::model

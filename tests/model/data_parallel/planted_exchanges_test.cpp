// Gradient synchronizations with one fault per class, on one of two ranks or on both. The verification of a step must
// find them.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "model/data_parallel/gradient_syncs.hpp"
#include "model/training/model_impl.hpp"
#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"
#include "tests/support/two_ranks.hpp"

namespace tbench::model {
namespace {

using support::as_two_ranks;

/// Forwards each call to a correct synchronization. A fault overrides one of the calls.
class FaultySync : public GradientSync {
 public:
  FaultySync(Trainer& trainer, ranks::Group& group, ParallelStrategy strategy)
      : trainer_{trainer}, group_{group}, right_{make_gradient_sync(strategy, 64 << 10, trainer, group)} {}
  void begin_step() override { right_->begin_step(); }
  void average(const std::function<void()>& backward) override { right_->average(backward); }
  void share_parameters() override { right_->share_parameters(); }
  void show_gradients() override { right_->show_gradients(); }
  [[nodiscard]] std::int64_t step_bytes() const override { return right_->step_bytes(); }
  [[nodiscard]] std::int64_t held_bytes() const override { return right_->held_bytes(); }

 protected:
  [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return trainer_.parameters().leaves(); }

  Trainer& trainer_;
  ranks::Group& group_;
  std::unique_ptr<GradientSync> right_;
};

/// Leaves every rank with the gradients of its own sequences.
struct NoSync final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override { backward(); }
};

struct SumForMean final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    backward();
    for (const at::Tensor& leaf : leaves()) group_.all_reduce(leaf.mutable_grad());
  }
};

/// Leaves out the last three parameters, which form the first bucket of backward.
struct BucketLeftOut final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    backward();
    for (std::size_t i = 0; i + 3 < leaves().size(); ++i) group_.mean(leaves()[i].mutable_grad());
  }
};

/// Leaves out only the smallest parameter, a norm.
struct NormLeftOut final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    backward();
    for (std::size_t i = 0; i < leaves().size(); ++i) {
      if (i + 2 != leaves().size()) group_.mean(leaves()[i].mutable_grad());
    }
  }
};

/// Uses the averaged gradients of the previous step.
struct StaleGradients final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    right_->average(backward);
    std::vector<at::Tensor> fresh;
    for (const at::Tensor& leaf : leaves()) fresh.push_back(leaf.grad().clone());
    for (std::size_t i = 0; i < before_.size(); ++i) leaves()[i].grad().copy_(before_[i]);
    before_ = fresh;
  }
  std::vector<at::Tensor> before_;
};

/// Rank 0 continues before rank 1 has contributed its gradients. Rank 1 contributes after rank 0 has updated its
/// parameters.
struct WaitSkipped final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    backward();
    if (group_.rank() == 1) wait_for_rank_zero();
    pending_.clear();
    for (const at::Tensor& leaf : leaves()) pending_.push_back(group_.start_mean(leaf.mutable_grad()));
    if (group_.rank() == 0) return;
    for (ranks::Pending& one : pending_) one.wait();
  }
  void share_parameters() override {
    if (group_.rank() == 0) {
      ++updates_;
      updates_.notify_all();
    }
    right_->share_parameters();
  }

 private:
  static void wait_for_rank_zero() {
    ++averages_;
    for (int updates = updates_; updates < averages_; updates = updates_) updates_.wait(updates);
  }

  // The counts cover all trainers so far. With each trainer, both ranks run the same number of steps.
  static inline std::atomic<int> updates_{};  // updates of rank 0
  static inline int averages_{};              // averages that rank 1 has begun
  std::vector<ranks::Pending> pending_;
};

struct ShareNotGathered final : FaultySync {
  using FaultySync::FaultySync;
  void share_parameters() override {}
};

/// Rank 1 does not use the parameters that it receives.
struct ShareDroppedByOne final : FaultySync {
  using FaultySync::FaultySync;
  void share_parameters() override {
    const at::NoGradGuard no_grad;
    const at::Tensor before = trainer_.parameters().whole().clone();
    right_->share_parameters();
    if (group_.rank() == 1) trainer_.parameters().whole().narrow(0, 0, 64).copy_(before.narrow(0, 0, 64));
  }
};

/// Clears the gradient of the last part of rank 1's share before the optimizer uses it.
struct PartNotUpdated final : FaultySync {
  using FaultySync::FaultySync;
  void average(const std::function<void()>& backward) override {
    right_->average(backward);
    if (group_.rank() == 1) trainer_.optimized().back().mutable_grad().zero_();
  }
};

/// Rank 1 makes an update that the others do not make, although the gradients are right.
struct RanksDriftApart final : FaultySync {
  using FaultySync::FaultySync;
  void share_parameters() override {
    const at::NoGradGuard no_grad;
    if (group_.rank() == 1) leaves().back().detach().view(-1)[5].mul_(1 + 1e-7);  // too small for any tolerance
  }
};

/// Does what a case does: verifies, runs, and verifies again on other data. Returns the message of either rank.
template <class Sync>
std::string found_in(ParallelStrategy strategy, Precision precision, std::int64_t scatter_bytes = kScatterBytes) {
  const OneThread one_thread;
  std::array<std::string, 2> found;
  as_two_ranks([&](ranks::Group& group) {
    ModelConfig config = tiny_step("sdpa", Pass::kTrainStep, precision);
    config.part = {.index = group.rank(), .count = group.size()};
    ModelImpl impl = model_impls().at("sdpa");
    if (strategy == ParallelStrategy::kShardedOptimizer) impl.layout.shares = group.size();
    impl.layout.scatter_bytes = scatter_bytes;
    Trainer trainer{config, impl};
    Sync sync{trainer, group, strategy};
    trainer.synchronize_through(&sync);
    const auto step = [&](StepOutputs& outputs) {
      make_checked_step(trainer, outputs);
      sync.show_gradients();
    };
    const Verification before = verify_trainer(trainer, config.seed, step, group);
    trainer.step();
    const Verification after = verify_trainer(trainer, config.seed + 1, step, group);
    found[static_cast<std::size_t>(group.rank())] = before.message + after.message;
  });
  return found[0] + found[1];
}

template <class Sync>
void expect_found(ParallelStrategy strategy) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    EXPECT_NE(found_in<Sync>(strategy, precision), "") << to_string(precision);
  }
}

TEST(PlantedExchanges, WithoutAFaultNothingIsFound) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    EXPECT_EQ(found_in<FaultySync>(ParallelStrategy::kNaive, precision), "");
    EXPECT_EQ(found_in<FaultySync>(ParallelStrategy::kShardedOptimizer, precision), "");
    // Parts of 10,000 bytes begin and end inside leaves.
    EXPECT_EQ(found_in<FaultySync>(ParallelStrategy::kShardedOptimizer, precision, 10'000), "");
  }
}

TEST(PlantedExchanges, NoExchangeIsFound) { expect_found<NoSync>(ParallelStrategy::kNaive); }
TEST(PlantedExchanges, ASumForTheMeanIsFound) { expect_found<SumForMean>(ParallelStrategy::kNaive); }
TEST(PlantedExchanges, ABucketLeftOutIsFound) { expect_found<BucketLeftOut>(ParallelStrategy::kNaive); }
TEST(PlantedExchanges, ANormLeftOutIsFound) { expect_found<NormLeftOut>(ParallelStrategy::kNaive); }
TEST(PlantedExchanges, StaleGradientsAreFound) { expect_found<StaleGradients>(ParallelStrategy::kBucketed); }
TEST(PlantedExchanges, ASkippedWaitIsFound) { expect_found<WaitSkipped>(ParallelStrategy::kNaive); }
TEST(PlantedExchanges, AShareNotGatheredIsFound) {
  expect_found<ShareNotGathered>(ParallelStrategy::kShardedOptimizer);
}
TEST(PlantedExchanges, AShareDroppedByOneRankIsFound) {
  expect_found<ShareDroppedByOne>(ParallelStrategy::kShardedOptimizer);
}
TEST(PlantedExchanges, APartOfTheShareThatIsNotUpdatedIsFound) {
  expect_found<PartNotUpdated>(ParallelStrategy::kShardedOptimizer);
}
TEST(PlantedExchanges, RanksThatDriftApartAreFound) { expect_found<RanksDriftApart>(ParallelStrategy::kNaive); }

}  // namespace
}  // namespace tbench::model

#include "tbench/model/backward_ranges.hpp"

#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/training/model_impl.hpp"
#include "model/training/trainer.hpp"
#include "tbench/cuda/range.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Not;

/// Records which ranges are open, as paths such as `a/b`.
class Written final : public cuda::RangeListener {
 public:
  Written() { cuda::set_range_listener(this); }
  ~Written() override { cuda::set_range_listener(nullptr); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  void enter(const char* name) override {
    open_.emplace_back(name);
    entered.push_back(path());
  }
  void leave() override { open_.pop_back(); }
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const std::string& name : open_) text += (text.empty() ? "" : "/") + name;
    return text;
  }
  std::vector<std::string> entered;

 private:
  std::vector<std::string> open_;
};

at::Tensor leaf() { return at::randn({4, 4}).requires_grad_(true); }

TEST(BackwardRanges, ANodeIsInTheRangesThatTheForwardPassMadeItIn) {
  Written written;
  const BackwardRanges credited;
  const at::Tensor weight = leaf();
  const at::Tensor loss = cuda::in_range("FORWARD", [&] {
    const at::Tensor y = cuda::in_range("layer.0", [&] {
      const at::Tensor scores = cuda::in_range("scores", [&] { return weight.matmul(weight); });
      return cuda::in_range("softmax", [&] { return scores.softmax(-1); });
    });
    return cuda::in_range("loss", [&] { return y.sum(); });
  });
  written.entered.clear();
  cuda::in_range("BACKWARD", [&] { loss.backward(); });
  EXPECT_THAT(written.entered, ElementsAre("BACKWARD", "BACKWARD/loss", "BACKWARD/layer.0", "BACKWARD/layer.0/softmax",
                                           "BACKWARD/layer.0/scores"));
  EXPECT_EQ(written.path(), "");
}

TEST(BackwardRanges, WhatTheForwardPassMadeInNoInnerRangeStaysInThePass) {
  Written written;
  const BackwardRanges credited;
  const at::Tensor weight = leaf();
  const at::Tensor loss = cuda::in_range("FORWARD", [&] {
    const at::Tensor y = cuda::in_range("inner", [&] { return weight.exp(); });
    return y.mul(2).sum();
  });
  written.entered.clear();
  cuda::in_range("BACKWARD", [&] { loss.backward(); });
  EXPECT_THAT(written.entered, ElementsAre("BACKWARD", "BACKWARD/inner"));
}

TEST(BackwardRanges, AStepAfterAnotherIsCreditedToItsOwnRanges) {
  Written written;
  const BackwardRanges credited;
  const at::Tensor weight = leaf();
  for (const char* name : {"first", "second"}) {
    const at::Tensor loss =
        cuda::in_range("FORWARD", [&] { return cuda::in_range(name, [&] { return weight.exp().sum(); }); });
    written.entered.clear();
    cuda::in_range("BACKWARD", [&] { loss.backward(); });
    EXPECT_THAT(written.entered, ElementsAre("BACKWARD", std::string{"BACKWARD/"} + name));
  }
}

TEST(BackwardRanges, EndsWithItsScope) {
  Written written;
  const at::Tensor weight = leaf();
  { const BackwardRanges credited; }
  const at::Tensor loss =
      cuda::in_range("FORWARD", [&] { return cuda::in_range("inner", [&] { return weight.exp().sum(); }); });
  written.entered.clear();
  cuda::in_range("BACKWARD", [&] { loss.backward(); });
  EXPECT_THAT(written.entered, ElementsAre("BACKWARD"));
}

/// Counts the operations dispatched by a thread, grouped by the ranges that are open.
class DispatchCount {
 public:
  explicit DispatchCount(const Written& written) {
    listening = &written;
    counts.clear();
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback{[](const at::RecordFunction&) {
                                      ++counts[listening->path()];
                                      return std::unique_ptr<at::ObserverContext>{};
                                    }}.scopes({at::RecordScope::FUNCTION}));
  }
  ~DispatchCount() { at::removeCallback(handle_); }
  DispatchCount(const DispatchCount&) = delete;
  DispatchCount& operator=(const DispatchCount&) = delete;

  static inline const Written* listening = nullptr;
  static inline std::map<std::string, int> counts;

 private:
  at::CallbackHandle handle_{};
};

class BackwardRangesOf : public testing::TestWithParam<std::string> {};

TEST_P(BackwardRangesOf, HoldAlmostEveryOperationOfAModelsBackward) {
  const ModelConfig config = tiny_step(GetParam(), Pass::kTrainStep, Precision::kFp32);
  Trainer trainer{config, model_impls().at(GetParam())};
  Written written;
  const BackwardRanges credited;
  trainer.step();
  {
    const DispatchCount count{written};
    trainer.step();
  }
  int all = 0;
  int in_no_part = 0;
  std::vector<std::string> parts;
  for (const auto& [path, operations] : DispatchCount::counts) {
    if (!path.starts_with("BACKWARD")) continue;
    all += operations;
    if (path == "BACKWARD") in_no_part += operations;
    if (path != "BACKWARD") parts.push_back(path);
  }
  EXPECT_GT(all, 50);
  EXPECT_LE(in_no_part, 0.03 * all) << "the gradient of the loss itself is of no part";
  for (const char* part : {"BACKWARD/embedding", "BACKWARD/layer.0/attention/attention.qkv", "BACKWARD/layer.1/ffn",
                           "BACKWARD/layer.1/norm", "BACKWARD/norm", "BACKWARD/lm_head", "BACKWARD/loss"}) {
    EXPECT_THAT(parts, testing::Contains(part));
  }
  EXPECT_THAT(parts, Each(Not(testing::HasSubstr("FORWARD"))));
}

INSTANTIATE_TEST_SUITE_P(Implementations, BackwardRangesOf, testing::Values("eager", "sdpa"),
                         [](const auto& value) { return value.param; });

}  // namespace
}  // namespace tbench::model

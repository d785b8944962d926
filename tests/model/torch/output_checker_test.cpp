#include "model/torch/output_checker.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

TEST(Perturb, TurnsTheSignsOfOneIndexOfTheLastDimensionButOne) {
  std::mt19937_64 random{1};
  const at::Tensor tensor = at::ones({2, 3, 5, 7});
  perturb(tensor, random);
  const at::Tensor changed = tensor.eq(-1);
  EXPECT_EQ(changed.sum().item<std::int64_t>(), 2 * 3 * 7);
  EXPECT_EQ(changed.all(3).sum().item<std::int64_t>(), 2 * 3);
  EXPECT_EQ(changed.any(3).any(0).any(0).sum().item<std::int64_t>(), 1);
}

TEST(Perturb, ReachesEveryIndexInTime) {
  std::mt19937_64 random{1};
  const at::Tensor tensor = at::ones({8, 2}, at::kBFloat16);
  at::Tensor reached = at::ones({8}, at::kBool).logical_not();
  for (int i = 0; i < 100; ++i) {
    const at::Tensor before = tensor.clone();
    perturb(tensor, random);
    reached.logical_or_(tensor.ne(before).any(1));
  }
  EXPECT_TRUE(reached.all().item<bool>());
}

TEST(Perturb, KnowsVectorsScalarsIntegersAndFp8) {
  std::mt19937_64 random{1};
  const at::Tensor vector = at::ones({5});
  perturb(vector, random);
  EXPECT_EQ(vector.sum().item<float>(), 3);
  const at::Tensor scalar = at::ones({});
  perturb(scalar, random);
  EXPECT_EQ(scalar.item<float>(), -1);
  const at::Tensor ids = at::arange(1000);
  for (int i = 0; i < 10; ++i) perturb(ids, random);
  EXPECT_FALSE(ids.equal(at::arange(1000)));
  EXPECT_TRUE(ids.ge(0).logical_and(ids.lt(1000)).all().item<bool>());
  const at::Tensor fp8 = at::ones({4, 4}).to(at::kFloat8_e4m3fn);
  perturb(fp8, random);
  EXPECT_EQ(fp8.to(at::kFloat).sum().item<float>(), 16 - 2 * 4);
}

TEST(Perturb, CanBeTakenBack) {
  std::mt19937_64 random{1};
  for (const at::Tensor& tensor :
       {at::randn({3, 4}), at::randn({3, 4}).to(at::kFloat8_e4m3fn), at::arange(12), at::randn({5}), at::randn({})}) {
    const at::Tensor before = tensor.clone();
    std::vector<Perturbation> changes;
    for (int i = 0; i < 7; ++i) changes.push_back(perturb(tensor, random));
    EXPECT_FALSE(has_same_bytes(tensor, before));
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) change->undo();
    EXPECT_TRUE(has_same_bytes(tensor, before));
  }
}

/// y = x x^T, whose step may leave its output as it is.
struct Square {
  at::Tensor x = at::randn({6, 4}), y = at::mm(x, x.t());
  OutputChecker checker{{.operands = [this] { return OutputChecker::Tensors{x}; },
                         .outputs =
                             [this] {
                               return OutputChecker::Tensors{y, at::Tensor{}};
                             },
                         .compare =
                             [this](const OutputChecker::Tensors& copies) {
                               return compare_tensors("y", copies[0], at::mm(x, x.t()).to(at::kDouble),
                                                      {.absolute = 1e-4});
                             }},
                        DeviceKind::kCpu,
                        1};

  void launch(bool works) {
    checker.before();
    if (works) y.copy_(at::mm(x, x.t()));
    checker.after();
  }
};

TEST(OutputChecker, AccusesNoHonestLaunchWhicheverItCopies) {
  Square square;
  for (int launches = 1; launches <= 40; ++launches) {
    for (int i = 0; i < launches; ++i) square.launch(true);
    EXPECT_TRUE(square.checker.verdict().passed) << launches;
  }
}

TEST(OutputChecker, SeesLaunchesThatDoNothing) {
  Square square;
  square.launch(true);
  for (int i = 0; i < 200; ++i) square.launch(false);
  EXPECT_FALSE(square.checker.verdict().passed);
  square.launch(false);  // the first is always copied
  EXPECT_FALSE(square.checker.verdict().passed);
}

TEST(OutputChecker, SeesWhatIsWrittenAfterTheLaunch) {
  Square square;
  square.launch(false);
  square.y.copy_(at::mm(square.x, square.x.t()));
  EXPECT_FALSE(square.checker.verdict().passed);
}

TEST(OutputChecker, HasNoVerdictBeforeALaunch) {
  Square square;
  EXPECT_THROW(static_cast<void>(square.checker.verdict()), std::logic_error);
}

}  // namespace
}  // namespace tbench::model

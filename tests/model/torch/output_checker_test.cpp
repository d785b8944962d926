#include "model/torch/output_checker.hpp"

#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Computes y = x x^T. The step can be replaced.
struct Square {
  static constexpr std::int64_t kRows = 30, kColumns = 4;
  at::Tensor x = at::zeros({kRows, kColumns}), y = at::zeros({kRows, kRows});
  OutputChecker checker{{.operands = [this] { return std::vector<DrawnOperand>{{.values = x}}; },
                         .outputs =
                             [this] {
                               return OutputChecker::Tensors{y, at::Tensor{}};
                             },
                         .compare_rows =
                             [this](const HiddenRows& hidden, Comparison& comparison) {
                               comparison.add("y of " + hidden.launch, hidden.values[0],
                                              expected().index_select(0, hidden.rows[0]), {.absolute = 1e-4});
                             },
                         .compare_digests =
                             [this](const RowDigests& sums, Comparison& comparison) {
                               ++digested;
                               comparison.add("sums of " + sums.launch, sums.digests[0], expected().mv(sums.signs[0]),
                                              {.absolute = 1e-3});
                             },
                         .compare =
                             [this](const OutputChecker::Tensors& outputs) {
                               ++whole;
                               return compare_tensors("y", outputs[0], expected(), {.absolute = 1e-4});
                             }},
                        DeviceKind::kCpu};
  int digested{}, whole{};

  [[nodiscard]] at::Tensor expected() const { return at::mm(x, x.t()).to(at::kDouble); }
  void work() { y.copy_(at::mm(x, x.t())); }
  void launch(const std::function<void()>& step) {
    checker.redraw();
    checker.perturb();
    step();
    checker.after();
  }
  void launch() {
    launch([this] { work(); });
  }
};

TEST(OutputChecker, AccusesNoHonestLaunch) {
  Square square;
  for (int run = 0; run < 20; ++run) {
    square.checker.begin();
    for (int i = 0; i < 50 + 20 * run; ++i) square.launch();
    const Verification verdict = square.checker.verdict();
    EXPECT_TRUE(verdict.passed) << verdict.message;
  }
  EXPECT_EQ(square.digested, 20 * 8);
  EXPECT_EQ(square.whole, 20);
}

TEST(OutputChecker, SeesASingleLaunchThatDoesNothing) {
  Square square;
  for (int i = 1; i <= 1000; ++i) square.launch([&] { i == 777 ? void() : square.work(); });
  const Verification verdict = square.checker.verdict();
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, StartsWith("timed launch 777 of 1000 left elements of its outputs that are NaN"));
}

TEST(OutputChecker, SeesOneRowThatIsNotWritten) {
  Square square;
  for (int i = 1; i <= 300; ++i) {
    square.launch([&] {
      const at::Tensor row = square.y[3].clone();
      square.work();
      if (i == 5) square.y[3].copy_(row);
    });
  }
  EXPECT_THAT(square.checker.verdict().message, StartsWith("timed launch 5 of 300"));
}

TEST(OutputChecker, SeesAnswersFromMemory) {
  for (int run = 0; run < 20; ++run) {
    Square square;
    square.launch();
    const at::Tensor remembered = square.y.clone();
    for (int i = 0; i < 400; ++i)
      square.launch([&] { i % 20 == 3 ? void(square.y.copy_(remembered)) : square.work(); });
    const Verification verdict = square.checker.verdict();
    EXPECT_FALSE(verdict.passed) << run;
    EXPECT_THAT(verdict.message, HasSubstr("timed launch")) << run;
  }
}

TEST(OutputChecker, SeesWhatIsWrittenAfterTheLaunch) {
  Square square;
  square.launch([] {});
  square.work();
  EXPECT_FALSE(square.checker.verdict().passed);
}

TEST(OutputChecker, SeesWhatWasComputedBeforeTheLastChange) {
  Square square;
  for (int i = 0; i < 20; ++i) {
    square.checker.redraw();
    at::Tensor early = at::mm(square.x, square.x.t());
    square.checker.perturb();
    square.y.copy_(early);
    square.checker.after();
  }
  EXPECT_FALSE(square.checker.verdict().passed);
}

TEST(OutputChecker, ForgetsTheLaunchesBeforeItsBegin) {
  Square square;
  square.launch([] {});
  square.checker.begin();
  square.launch();
  EXPECT_TRUE(square.checker.verdict().passed);
}

TEST(OutputChecker, HasNoVerdictBeforeALaunch) {
  Square square;
  EXPECT_THROW(static_cast<void>(square.checker.verdict()), std::logic_error);
  square.launch();
  EXPECT_TRUE(square.checker.verdict().passed);
  EXPECT_THROW(static_cast<void>(square.checker.verdict()), std::logic_error);
}

}  // namespace
}  // namespace tbench::model

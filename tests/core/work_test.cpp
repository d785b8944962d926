#include "tbench/core/work.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace tbench {
namespace {

const ModelSize kSmall{"small", 768, 3072, 12, 12};
// The extents keep the sums short; head_dim is 4.
const ModelSize kMini{"mini", 8, 16, 3, 2};

TEST(PassTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(Pass::kForward), "forward");
  EXPECT_EQ(to_string(Pass::kForwardBackward), "forward_backward");
  EXPECT_EQ(to_string(Pass::kTrainStep), "train_step");
  for (const Pass pass : {Pass::kForward, Pass::kForwardBackward, Pass::kTrainStep}) {
    EXPECT_EQ(parse_enum<Pass>(to_string(pass)), pass);
  }
  EXPECT_EQ(parse_enum<Pass>("backward"), std::nullopt);
}

TEST(AttentionForwardFlop, CountsTwoProducts) {
  const AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 5, .seq_kv = 7, .head_dim = 4, .causal = false};
  EXPECT_EQ(attention_forward_flop(shape).value, 3360);  // 4 * 2 * 3 * 5 * 7 * 4
}

TEST(AttentionForwardFlop, CausalIsHalf) {
  const AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 5, .seq_kv = 5, .head_dim = 4, .causal = true};
  EXPECT_EQ(attention_forward_flop(shape).value, 1200);  // 4 * 2 * 3 * 5 * 5 * 4 / 2
}

TEST(AttentionForwardFlop, DoesNotOverflow) {
  // 4 * 2^14 * 2^10 * (2^20)^2 * 2^8 = 2^74
  const AttentionShape shape{
      .batch = 1 << 14, .heads = 1 << 10, .seq_q = 1 << 20, .seq_kv = 1 << 20, .head_dim = 1 << 8, .causal = false};
  EXPECT_EQ(attention_forward_flop(shape).value, 0x1p74);
}

TEST(AttentionForwardFlop, RefusesWhatIsNoShape) {
  const AttentionShape good{.batch = 1, .heads = 1, .seq_q = 2, .seq_kv = 2, .head_dim = 1, .causal = true};
  EXPECT_EQ(attention_forward_flop(good).value, 8);  // 4 * 2 * 2 / 2
  for (const auto extent : {&AttentionShape::batch, &AttentionShape::heads, &AttentionShape::seq_q,
                            &AttentionShape::seq_kv, &AttentionShape::head_dim}) {
    AttentionShape bad = good;
    bad.causal = false;
    bad.*extent = 0;
    EXPECT_THROW(static_cast<void>(attention_forward_flop(bad)), std::invalid_argument);
  }
  AttentionShape not_square = good;
  not_square.seq_kv = 3;
  EXPECT_THROW(static_cast<void>(attention_forward_flop(not_square)), std::invalid_argument);
}

TEST(AttentionPassTest, NamesGoBothWays) {
  EXPECT_EQ(to_string(AttentionPass::kForward), "forward");
  EXPECT_EQ(to_string(AttentionPass::kBackward), "backward");
  EXPECT_EQ(to_string(AttentionPass::kForwardBackward), "forward_backward");
  for (const auto pass : {AttentionPass::kForward, AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
    EXPECT_EQ(parse_enum<AttentionPass>(to_string(pass)), pass);
  }
  EXPECT_EQ(parse_enum<AttentionPass>("train_step"), std::nullopt);
}

TEST(AttentionWork, BackwardIsTwoAndAHalfTimesTheForward) {
  const AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 5, .seq_kv = 7, .head_dim = 4, .causal = false};
  // forward 4 * 2 * 3 * 5 * 7 * 4 = 3,360; backward 10 * 2 * 3 * 5 * 7 * 4 = 8,400; tokens 2 * 5
  EXPECT_EQ(attention_work(shape, AttentionPass::kForward), (Work{.flop = {3360}, .tokens = 10}));
  EXPECT_EQ(attention_work(shape, AttentionPass::kBackward),
            (Work{.flop = {8400}, .min_flop = Flop{6720}, .tokens = 10}));
  EXPECT_EQ(attention_work(shape, AttentionPass::kForwardBackward),
            (Work{.flop = {11760}, .min_flop = Flop{10080}, .tokens = 10}));
}

TEST(AttentionWork, LeastBytesAreInputsOutputAndGradients) {
  const AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 5, .seq_kv = 7, .head_dim = 4, .causal = false};
  // q and o: 2 * 3 * 5 * 4 = 120 elements each; k and v: 2 * 3 * 7 * 4 = 168 each; 576 in all, twice with gradients
  EXPECT_EQ(attention_min_bytes(shape, AttentionPass::kForward, 2), 1152);
  EXPECT_EQ(attention_min_bytes(shape, AttentionPass::kBackward, 2), 2304);
  EXPECT_EQ(attention_min_bytes(shape, AttentionPass::kForwardBackward, 4), 4608);
}

// Weights: 3 * (4 * 8 * 8 + 3 * 8 * 16) + 10,000 * 8 = 3 * 640 + 80,000 = 81,920.
// Tokens: 2 * 10 = 20. Dense layers in forward: 2 * 20 * 81,920 = 3,276,800.
// Attention in forward: 3 * 4 * 2 * 2 * 10 * 10 * 4 / 2 = 9,600.
TEST(CeilingNumerator, IsBytesWhereTheyAreCountedAndElseTheFlopThatCannotBeAvoided) {
  const auto expect = [](const Work& work, double value, bool is_of_bytes) {
    const CeilingNumerator held = ceiling_numerator(work);
    EXPECT_EQ(held.value, value);
    EXPECT_EQ(held.is_of_bytes, is_of_bytes);
  };
  expect({.flop = {30}, .min_flop = Flop{20}, .bytes = 10}, 10, true);
  expect({.flop = {30}, .min_flop = Flop{20}}, 20, false);
  expect({.flop = {30}}, 30, false);
  expect({.tokens = 7}, 0, false);
}

TEST(ModelStepWork, MatchesTheSumByHand) {
  const Work forward = model_step_work(kMini, 10, 2, Pass::kForward);
  EXPECT_EQ(forward.tokens, 20);
  EXPECT_EQ(forward.flop.value, 3'286'400);  // 3,276,800 + 9,600
  const Work with_backward = model_step_work(kMini, 10, 2, Pass::kForwardBackward);
  EXPECT_EQ(with_backward.tokens, 20);
  EXPECT_EQ(with_backward.flop.value, 9'864'000);                             // 3 * 3,276,800 + 3.5 * 9,600
  EXPECT_EQ(with_backward.min_flop, Flop{9'859'200});                         // 3 * 3,276,800 + 3 * 9,600
  EXPECT_EQ(model_step_work(kMini, 10, 2, Pass::kTrainStep), with_backward);  // the optimizer is not counted
}

// Weights: 12 * (2,359,296 + 7,077,888) + 7,680,000 = 120,926,208. Tokens: 4 * 512 = 2,048.
// Dense: 2 * 2,048 * 120,926,208 = 495,313,747,968. Attention: 12 * 4 * 4 * 12 * 512^2 * 64 / 2 = 19,327,352,832.
TEST(ModelStepWork, MatchesTheSumOfSmallAtContext512) {
  EXPECT_EQ(model_step_work(kSmall, 512, 4, Pass::kForward).flop.value, 514'641'100'800.0);
  // 3 * 495,313,747,968 + 3.5 * 19,327,352,832 = 1,485,941,243,904 + 67,645,734,912
  EXPECT_EQ(model_step_work(kSmall, 512, 4, Pass::kTrainStep).flop.value, 1'553'586'978'816.0);
}

TEST(ModelStepWork, RefusesExtentsThatAreNotPositive) {
  EXPECT_THROW(static_cast<void>(model_step_work(kMini, 0, 2, Pass::kForward)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(model_step_work(kMini, 10, -1, Pass::kForward)), std::invalid_argument);
  for (const auto extent : {&ModelSize::d_model, &ModelSize::d_ff, &ModelSize::num_layers, &ModelSize::num_heads}) {
    ModelSize bad = kMini;
    bad.*extent = 0;
    EXPECT_THROW(static_cast<void>(model_step_work(bad, 10, 2, Pass::kForward)), std::invalid_argument);
  }
}

// 128,625,408 parameters of 4 bytes are 514,501,632.
TEST(ModelLeastBytes, AddsGradientsAndMoments) {
  EXPECT_EQ(model_min_bytes(kSmall, Pass::kForward), 514'501'632);
  EXPECT_EQ(model_min_bytes(kSmall, Pass::kForwardBackward), 1'029'003'264);
  EXPECT_EQ(model_min_bytes(kSmall, Pass::kTrainStep), 2'058'006'528);
}

/// Returns the TFLOP/s by the project's table, to be compared with the number in the datasheet.
double peak_tflops(std::string_view gpu, Precision precision, double sm_count, double clock_hz) {
  return datasheet_flop_per_sm_clock(gpu, precision).value() * sm_count * clock_hz / 1e12;
}

TEST(DatasheetRate, GivesTheDatasheetsNumbers) {
  const std::string h200 = "NVIDIA H200";
  EXPECT_NEAR(peak_tflops(h200, Precision::kBf16, 132, 1.83e9), 989.4, 0.1);
  EXPECT_NEAR(peak_tflops(h200, Precision::kFp16, 132, 1.83e9), 989.4, 0.1);
  EXPECT_NEAR(peak_tflops(h200, Precision::kTf32, 132, 1.83e9), 494.7, 0.1);
  EXPECT_NEAR(peak_tflops(h200, Precision::kFp32, 132, 1.98e9), 66.9, 0.1);
  const std::string a100 = "NVIDIA A100-SXM4-80GB";
  EXPECT_NEAR(peak_tflops(a100, Precision::kBf16, 108, 1.41e9), 312, 0.5);
  EXPECT_NEAR(peak_tflops(a100, Precision::kTf32, 108, 1.41e9), 156, 0.5);
  EXPECT_NEAR(peak_tflops(a100, Precision::kFp32, 108, 1.41e9), 19.5, 0.05);
  const std::string ada = "NVIDIA GeForce RTX 4090";
  EXPECT_NEAR(peak_tflops(ada, Precision::kBf16, 128, 2.52e9), 165.2, 0.1);
  EXPECT_NEAR(peak_tflops(ada, Precision::kFp32, 128, 2.52e9), 82.6, 0.1);
}

TEST(DatasheetRate, GivesThoseOfOtherGenerations) {
  EXPECT_NEAR(peak_tflops("NVIDIA B200", Precision::kBf16, 148, 1.86e9), 2250, 10);
  EXPECT_NEAR(peak_tflops("NVIDIA B200", Precision::kTf32, 148, 1.86e9), 1125, 5);
  EXPECT_NEAR(peak_tflops("NVIDIA B200", Precision::kFp32, 148, 1.98e9), 75, 0.5);
  EXPECT_NEAR(peak_tflops("NVIDIA GB200", Precision::kFp16, 148, 2.06e9), 2500, 10);
  EXPECT_NEAR(peak_tflops("NVIDIA L4", Precision::kBf16, 58, 2.04e9), 121, 0.5);
  EXPECT_NEAR(peak_tflops("NVIDIA L4", Precision::kFp32, 58, 2.04e9), 30.3, 0.1);
  EXPECT_NEAR(peak_tflops("NVIDIA L40S", Precision::kTf32, 142, 2.52e9), 183, 0.5);
  EXPECT_NEAR(peak_tflops("NVIDIA L40S", Precision::kFp32, 142, 2.52e9), 91.6, 0.1);
  EXPECT_NEAR(peak_tflops("Tesla T4", Precision::kFp16, 40, 1.59e9), 65, 0.5);
  EXPECT_NEAR(peak_tflops("Tesla T4", Precision::kFp32, 40, 1.59e9), 8.1, 0.1);
}

TEST(DatasheetRate, IsUnknownForOtherGpusAndForUnitsThatAGpuLacks) {
  for (const char* name : {"", "NVIDIA GH200 480GB", "NVIDIA H100 PCIe", "NVIDIA L40", "NVIDIA T4", "H200"}) {
    EXPECT_EQ(datasheet_flop_per_sm_clock(name, Precision::kBf16), std::nullopt) << name;
  }
  EXPECT_EQ(datasheet_flop_per_sm_clock("Tesla T4", Precision::kBf16), std::nullopt);
  EXPECT_EQ(datasheet_flop_per_sm_clock("Tesla T4", Precision::kTf32), std::nullopt);
}

TEST(DatasheetPeak, IsTheDatasheetsAtItsBoostClock) {
  const auto tflops = [](const char* gpu, std::int64_t sm_count, Precision precision) {
    return datasheet_peak(gpu, sm_count, precision).value().value * 1e-12;
  };
  EXPECT_NEAR(tflops("NVIDIA H100 80GB HBM3", 132, Precision::kBf16), 989.4, 0.1);
  EXPECT_NEAR(tflops("NVIDIA H200", 132, Precision::kTf32), 494.7, 0.1);
  EXPECT_NEAR(tflops("NVIDIA H200", 132, Precision::kFp32), 66.9, 0.1);
  EXPECT_NEAR(tflops("NVIDIA H200", 66, Precision::kBf16), 494.7, 0.1) << "half of a GPU";
  EXPECT_NEAR(tflops("NVIDIA A100-SXM4-80GB", 108, Precision::kFp16), 312, 0.5);
  EXPECT_NEAR(tflops("NVIDIA B200", 148, Precision::kFp32), 75, 0.1);
  EXPECT_NEAR(tflops("NVIDIA GB200", 152, Precision::kBf16), 2'565, 1) << "2,500 of 148 SM";
  EXPECT_NEAR(tflops("NVIDIA L40S", 142, Precision::kBf16), 366, 1);
  EXPECT_EQ(datasheet_peak("NVIDIA L40", 142, Precision::kBf16), std::nullopt);
  EXPECT_EQ(datasheet_peak("Tesla T4", 40, Precision::kBf16), std::nullopt);
}

TEST(ModelFlop, AreThoseThatNoImplementationCanAvoid) {
  const AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 64, .seq_kv = 64, .head_dim = 16, .causal = true};
  const Flop forward = attention_forward_flop(shape);
  EXPECT_EQ(model_flop(attention_work(shape, AttentionPass::kForward)), forward);
  EXPECT_EQ(model_flop(attention_work(shape, AttentionPass::kBackward)), forward * 2.0);
  EXPECT_EQ(model_flop(attention_work(shape, AttentionPass::kForwardBackward)), forward * 3.0);
}

/// The expected values are from nccl-tests, doc/PERFORMANCE.md, for 2 and 8 ranks.
TEST(BusFactor, IsNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllReduce, 8), 1.75);  // 2 * 7 / 8
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter, CollectiveOp::kAllToAll}) {
    EXPECT_DOUBLE_EQ(bus_factor(op, 2), 0.5);
    EXPECT_DOUBLE_EQ(bus_factor(op, 8), 0.875);
  }
  for (const CollectiveOp op : {CollectiveOp::kBroadcast, CollectiveOp::kSendRecv}) {
    EXPECT_DOUBLE_EQ(bus_factor(op, 8), 1.0);
  }
}

}  // namespace
}  // namespace tbench

// Tests the tables and sentences about attention's softmax and products: FLOP, shares, rates beside ceilings, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "roofline_samples.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CaseId case_of(const std::string& size, const std::string& pass, const std::string& precision) {
  return CaseId::parse("Model/size:" + size + "/ctx:512/batch:4/pass:" + pass + "/precision:" + precision +
                       "/impl:eager");
}

/// Returns a forward pass whose attention takes 4 ms: softmax 2, QK^T 0.6, context 0.4, and the rest 1. Softmax has
/// three elementwise kernels and two reductions per layer.
Record forward(const std::string& precision = "fp32", const std::string& size = "small") {
  Record record = support::timed_record(case_of(size, "forward", precision), Seconds{6 * kMs});
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->kernels = {kernel("forward", "elementwise", "exp", 36, 1.4),
                           kernel("forward", "reduction", "max", 24, 0.6)};
  record.trace->ranges.resize(1);
  record.trace->ranges[0].path = "FORWARD/layer.*/attention/attention.softmax";
  record.trace->range_kernels = {{.range = 0, .kernel = 0, .calls = 36, .total = {1.4 * kMs}},
                                 {.range = 0, .kernel = 1, .calls = 24, .total = {0.6 * kMs}}};
  record.trace->attention = {
      {.phase = "forward", .softmax = {2 * kMs}, .scores = {0.6 * kMs}, .context = {0.4 * kMs}, .other = {1 * kMs}}};
  return record;
}

/// Returns a training step with copies from device to device of this size each, at 4 TB/s read and written.
Record step_with_copies(double mebibytes) {
  constexpr double kCopies = 10;
  Record record = support::timed_record(case_of("small", "train_step", "fp32"), Seconds{20 * kMs});
  record.trace = StepTrace{};
  const double bytes = kCopies * mebibytes * 1024 * 1024;
  record.trace->phases.resize(1);
  record.trace->phases[0].copies = {{.name = "Memcpy DtoD", .count = kCopies, .bytes = bytes, .total = {bytes / 2e12}}};
  return record;
}

StudyReport report_on(std::vector<Record> records) {
  return studies::report_on("softmax_vs_matmul", std::move(records));
}

std::vector<std::string> notes_on(std::vector<Record> records) { return report_on(std::move(records)).notes; }

// 12 layers with 12 heads of head_dim 64, and 4 x 512 x 512 scores per head: 12.58 million scores per layer.
TEST(AttentionFlop, AreOfOneLayerAndOfAll) {
  EXPECT_THAT(rows_of(report_on({forward()}), "FLOP of attention's core", "small|512|"),
              ElementsAre("one layer|1.611|0.06291|1.611|3.284", "all 12 layers|19.33|0.7550|19.33|39.41"));
}

TEST(AttentionFlop, AreUnknownForASizeThatIsNotBuiltIn) {
  Record mine = forward();
  mine.id = case_of("mine", "forward", "fp32");
  results::NamedResults file = support::gpu_results({mine});
  file.file.options["size.mine"] = "768,3072,12,12";
  const StudyReport report = study_report(
      find_study("softmax_vs_matmul", "--study"), std::vector{file},
      {.axes = {{"Model", {"size", {"mine"}}}, {"Model", {"ctx", {"512"}}}, {"Model", {"pass", {"forward"}}}},
       .filter = {}});
  EXPECT_THAT(rows_of(report, "FLOP of attention's core", ""), ElementsAre("|none|||"));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("FLOP"))));
}

TEST(AttentionShares, AreOfTimeAndOfFlop) {
  EXPECT_THAT(rows_of(report_on({forward()}), "Shares of attention's core", "small|512|fp32|"),
              ElementsAre("products|1.000|25.0|98.1|0.2549", "softmax|2.000|50.0|1.9|26.10", "rest|1.000|25.0||"));
  EXPECT_THAT(
      notes_on({forward()}),
      Contains("Of attention's core of small, 512 tokens, fp32, forward, the matrix products have 25.0 % of the "
               "time and 98.1 % of the FLOP: their share of time is 0.2549 times their share of FLOP. Softmax "
               "has 50.0 % of the time and 1.9 % of the FLOP: 26.10 times."));
  EXPECT_THAT(notes_on({forward("bf16")}), Not(Contains(HasSubstr("Of attention's core of"))));
}

TEST(AttentionRates, AreBesideTheCeilings) {
  const std::vector<Record> records{forward(), product_ceiling(), copy_ceiling(3.02)};
  EXPECT_THAT(rows_of(report_on(records), "4 bytes per element", "small|512|"),
              ElementsAre("QK^T|32.21|50.00|1.258||3.020|25.60|16.56|compute",
                          "softmax|0.3775|50.00|0.6040|2.416|3.020|0.6250|16.56|memory",
                          "context|48.32|50.00|1.887||3.020|25.60|16.56|compute"));
  EXPECT_THAT(rows_of(report_on({forward()}), "4 bytes per element", "small|512|softmax"),
              ElementsAre("|0.3775||0.6040|2.416||0.6250||"));
}

TEST(AttentionRates, SayWhatSoftmaxsKernelsMove) {
  EXPECT_THAT(notes_on({forward(), product_ceiling(), copy_ceiling(3.02)}),
              Contains("Softmax's kernels of small, 512 tokens, fp32, forward, read the scores of a layer 5 times and "
                       "write them 3 times: 2.416 TB/s, 80 % of the memory ceiling, 3.020 TB/s of a copy. Softmax's "
                       "0.3775 TFLOP/s are 0.8 % of the compute ceiling, 50.00 TFLOP/s of a large product in fp32: "
                       "softmax is nearer to its memory ceiling."));
  EXPECT_THAT(notes_on({forward(), product_ceiling(), copy_ceiling(3000)}),
              Contains(HasSubstr("softmax is nearer to its compute ceiling.")));
  Record unknown = forward();
  unknown.trace->kernels[1].kernel_class = "cast";
  for (const auto& records : {std::vector{forward()}, std::vector{forward(), product_ceiling()},
                              std::vector{unknown, product_ceiling(), copy_ceiling(3.02)}}) {
    EXPECT_THAT(notes_on(records), Not(Contains(HasSubstr("Softmax's kernels"))));
  }
}

TEST(AttentionLimits, FollowFromTheRidgePoint) {
  const std::string ridge =
      "the ridge point of 16.56 FLOP/byte (50.00 TFLOP/s of a large product in fp32 over 3.020 "
      "TB/s of a copy)";
  const std::vector<std::string> notes = notes_on({forward(), product_ceiling(), copy_ceiling(3.02)});
  EXPECT_THAT(notes, Contains("Softmax has at most 0.6250 (fp32) FLOP/byte, since it reads and writes the scores at "
                              "least once. Below " +
                              ridge +
                              ", memory bandwidth is the lower ceiling: in 1 of 1 forward passes. Softmax's kernels "
                              "reach 80.00 % (small, 512 tokens) of the memory ceiling in fp32."));
  EXPECT_THAT(notes, Contains("Attention's matrix products in fp32 have at most 25.60 (small, 512 tokens) FLOP/byte. "
                              "With " +
                              ridge +
                              ", compute is the lower ceiling in 1 of 1 forward passes, which reach 77.31 % (small, "
                              "512 tokens) of it."));
}

TEST(AttentionLimits, ChangeWithTheCeilings) {
  EXPECT_THAT(
      notes_on({forward(), product_ceiling(), copy_ceiling(1)}),
      Contains(HasSubstr("FLOP/s of a large product in fp32 over 1.000 TB/s of a copy), memory bandwidth is the "
                         "lower ceiling in 1 of 1 forward passes, which reach 151.0 % (small, 512 tokens) of "
                         "it.")));
  EXPECT_THAT(notes_on({forward(), product_ceiling(), copy_ceiling(100)}),
              Contains(HasSubstr("memory bandwidth is the lower ceiling: in 0 of 1 forward passes.")));
  for (const auto& records :
       {std::vector{forward()}, std::vector{forward(), product_ceiling()}, std::vector{forward(), copy_ceiling(3)}}) {
    EXPECT_THAT(notes_on(records), Not(Contains(HasSubstr("the ridge point"))));
  }
}

TEST(AttentionLimits, UseTheLargeCopiesOfTheTracesWithoutTheCaseOfACopy) {
  const std::string copies = "over 4.000 TB/s of the fastest copy on the device in the traces)";
  EXPECT_THAT(notes_on({forward(), product_ceiling(), step_with_copies(20)}), Contains(HasSubstr(copies)));
  EXPECT_THAT(notes_on({forward(), product_ceiling(), step_with_copies(20), copy_ceiling(3.02)}),
              Not(Contains(HasSubstr(copies))));
  EXPECT_THAT(notes_on({forward(), product_ceiling(), step_with_copies(15)}),
              Not(Contains(HasSubstr("the ridge point"))));
}

TEST(AttentionCore, IsNotLimitedByComputeAloneIfItsProductsAtTheCeilingTakeLessThanHalf) {
  // 38.65 GFLOP take 0.7731 ms at 50 TFLOP/s.
  EXPECT_THAT(
      notes_on({forward(), product_ceiling()}),
      Contains("In attention's core with batch 4 in fp32, matrix products take 25.00 % (small, 512 tokens) of "
               "the time and reach 77.31 % (small, 512 tokens) of the 50.00 TFLOP/s of a large product in fp32. "
               "At that rate they would take 19.33 % (small, 512 tokens) of the time: compute alone does not limit the "
               "core."));
  Record fused = forward();
  fused.trace->attention[0].softmax = {0.1 * kMs};
  fused.trace->attention[0].other = {};
  EXPECT_THAT(notes_on({fused, product_ceiling()}),
              Contains(HasSubstr("they would take 70.28 % (small, 512 tokens) of the time.")));
  EXPECT_THAT(notes_on({forward()}), Not(Contains(HasSubstr("In attention's core"))));
}

}  // namespace
}  // namespace tbench::studies

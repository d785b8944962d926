// Tests the shares of FLOP and time of matrix products and all other kernels, and what limits the others.
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

/// Returns a forward pass of small with 512 tokens: matrix products and other kernels, in ms.
Record forward(double products_ms, double other_ms, const std::string& precision = "fp32") {
  Record record = support::timed_record(
      CaseId::parse("Model/size:small/ctx:512/batch:4/pass:forward/precision:" + precision + "/impl:eager"),
      Seconds{12 * kMs});
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->kernels = {kernel("forward", "gemm", "gemm", 97, products_ms),
                           kernel("forward", "elementwise", "exp", 36, other_ms),
                           kernel("forward", "memcpy", "Memcpy DtoD", 12, 5)};
  return record;
}

/// Adds ranges: `ms` of the elementwise kernels are softmax, with three kernels per layer, and the rest is SwiGLU.
Record with_ranges(Record record, double ms) {
  const double other_ms = to_milliseconds(record.trace->kernels[1].total) - ms;
  record.trace->ranges.resize(2);
  record.trace->ranges[0].path = "FORWARD/layer.*/attention/attention.softmax";
  record.trace->ranges[1].path = "FORWARD/layer.*/ffn";
  record.trace->range_kernels = {{.range = 0, .kernel = 1, .calls = 36, .total = {ms * kMs}},
                                 {.range = 1, .kernel = 0, .calls = 36, .total = record.trace->kernels[0].total},
                                 {.range = 1, .kernel = 1, .calls = 12, .total = {other_ms * kMs}},
                                 {.range = 1, .kernel = 2, .calls = 12, .total = {5 * kMs}}};
  return record;
}

/// Returns the record with the ceilings of a large matrix product and of a copy.
std::vector<Record> with_ceilings(Record record, double terabytes_per_second) {
  return {std::move(record), product_ceiling(), copy_ceiling(terabytes_per_second)};
}

StudyReport report_on(std::vector<Record> records) { return studies::report_on("gemm_share", std::move(records)); }

std::vector<std::string> notes_on(std::vector<Record> records) { return report_on(std::move(records)).notes; }

// 2,048 tokens times 120.9 million weights of the layers and the LM head are 495.3 GFLOP, and attention has 38.65.
TEST(FlopShare, IsBesideTheShareOfTime) {
  EXPECT_THAT(rows_of(report_on({forward(8, 2)}), "FLOP of inference's forward pass", "small|512|fp32|"),
              ElementsAre("matrix products|534.0|99.70|8.000|80.0|0.8024", "other|1.592|0.2972|2.000|20.0|67.29"));
}

TEST(FlopShare, SaysWhetherProductsHaveMostOfTheTimeAndLessThanOfTheFlop) {
  EXPECT_THAT(notes_on({forward(8, 2)}),
              Contains("In inference in fp32, matrix products take over half of the kernels' time in 1 of 1 cases, and "
                       "their share of the time is smaller than their share of the FLOP in 1 of 1."));
  EXPECT_THAT(notes_on({forward(2, 8)}), Contains(HasSubstr("time in 0 of 1 cases, and")));
  EXPECT_THAT(notes_on({forward(10, 0.001)}), Contains(HasSubstr("share of the FLOP in 0 of 1.")));
  Record untraced = forward(8, 2);
  untraced.trace->kernels.clear();
  EXPECT_THAT(notes_on({untraced}), Not(Contains(HasSubstr("In inference"))));
}

TEST(FlopShare, ComparesAllOtherKernels) {
  EXPECT_THAT(
      notes_on({forward(8, 2)}),
      Contains("In inference with 512 tokens in fp32, matrix products take 80.00 % (small) of the kernels' time "
               "for 99.70 % (small) of the FLOP. All other kernels, elementwise operations, casts, reductions "
               "and softmax, take 20.00 % (small) of the time for 0.2972 % (small) of the FLOP: their share of "
               "time is 67.29 (small) times their share of FLOP."));
  EXPECT_THAT(notes_on({forward(8, 2, "bf16")}), Contains(HasSubstr("tokens in bf16, matrix products take 80.00 %")));
  EXPECT_THAT(notes_on({forward(8, 2, "bf16")}), Not(Contains(HasSubstr("tokens in fp32, matrix products"))));
}

TEST(OperationsOutsideProducts, HaveTheirLeastBytesBesideTheCeiling) {
  // 151 million scores, and 75.5 million elements of SwiGLU. Products and copies do not count.
  EXPECT_THAT(rows_of(report_on(with_ceilings(with_ranges(forward(8, 2), 1.5), 3.02)), "operations outside", "small|"),
              ElementsAre("softmax|1.500|15.0|0.7550|1.208|0.8053|3.020|0.6250",
                          "SwiGLU|0.5000|5.0|0.3775|0.9060|1.812|3.020|0.4167",
                          "(all)|2.000|20.0|1.592|4.404|2.202|3.020|0.3614"));
}

TEST(OperationsOutsideProducts, AreLimitedByMemoryBelowTheRidgePoint) {
  EXPECT_THAT(
      notes_on(with_ceilings(forward(8, 2), 3.02)),
      Contains("In inference with 512 tokens in fp32, 20.00 % (small) of the kernels' time is spent outside matrix "
               "products. Compute does not limit these kernels: their operations have at most 0.3614 (small) "
               "FLOP/byte, below "
               "the ridge point of 16.56 FLOP/byte (50.00 TFLOP/s of a large product in fp32 over 3.020 TB/s of a "
               "copy). Their least reads and writes are 2.202 (small) TB/s in that time."));
  EXPECT_THAT(notes_on(with_ceilings(forward(8, 2), 1000)),
              Contains(HasSubstr("Compute may limit these kernels: their operations have at most 0.3614 "
                                 "(small) FLOP/byte, not all below the ridge point of 0.0500")));
  EXPECT_THAT(notes_on({forward(8, 2)}), Not(Contains(HasSubstr("spent outside matrix"))));
}

TEST(OperationsOutsideProducts, MoveMoreInSeveralKernels) {
  // Three kernels per layer read and write 151 million scores in float32: 3.624 GB in 1.5 ms.
  EXPECT_THAT(notes_on(with_ceilings(with_ranges(forward(8, 2), 1.5), 3.02)),
              Contains(HasSubstr(" An operation of several kernels moves more: softmax's kernels reach 80.00 % (small) "
                                 "of the 3.020 TB/s, so memory bandwidth limits them.")));
  EXPECT_THAT(notes_on(with_ceilings(with_ranges(forward(8, 2), 1.5), 6.04)),
              Contains(HasSubstr("softmax's kernels reach 40.00 % (small) of the 6.040 TB/s.")));
  EXPECT_THAT(notes_on(with_ceilings(forward(8, 2), 3.02)), Not(Contains(HasSubstr("moves more"))));
}

}  // namespace
}  // namespace tbench::studies

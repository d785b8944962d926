#include "tbench/report/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_results.hpp"

namespace tbench::report {
namespace {

using testing::ElementsAre;

TEST(Summary, ShowsTheNumbersOfATimedCase) {
  // 2048 tokens / 25.312 ms = 80,910.2 /s; 1.5 TFLOP / 25.312 ms = 59.26 TFLOP/s, of 990 TFLOP/s 5.99 %; 3 GiB.
  EXPECT_THAT(summary_cells(full_record()), ElementsAre("ok", "25.31", "0.23", "80,910", "59.26", "6.0", "3.000", "5"));
}

TEST(Summary, LeavesOutWhatIsUnknown) {
  EXPECT_THAT(summary_cells(timed_record(model_id("forward", "eager"), Seconds{0.008})),
              ElementsAre("ok", "8.000", "", "", "", "", "", "3"));
}

TEST(Summary, ShowsTheReasonInPlaceOfATime) {
  EXPECT_THAT(summary_cells(failed_record(model_id("forward", "eager"), Status::kIncorrect, "logits[3] is NaN")),
              ElementsAre("incorrect", "logits[3] is NaN"));
}

TEST(Summary, HasOneCellAColumn) { EXPECT_EQ(summary_columns().size(), summary_cells(full_record()).size()); }

TEST(Metric, HasAName) {
  EXPECT_THAT(metric_names(), ElementsAre("ms", "tokens", "tflops", "mfu", "memory", "bandwidth", "share"));
  EXPECT_EQ(parse_metric("memory"), Metric::kMemory);
  EXPECT_EQ(parse_metric("tokens"), Metric::kTokens);
  EXPECT_EQ(parse_metric("seconds"), std::nullopt);
  EXPECT_EQ(metric_header(Metric::kMfu), "MFU %");
}

TEST(Metric, IsInTheUnitOfItsHeader) {
  EXPECT_DOUBLE_EQ(metric_value(full_record(), Metric::kMilliseconds).value(), 25.312);
  EXPECT_DOUBLE_EQ(metric_value(full_record(), Metric::kMemory).value(), 3);
  EXPECT_EQ(metric_value(timed_record(model_id("forward", "eager"), Seconds{1}), Metric::kMfu), std::nullopt);
  Record record = full_record();
  record.work = Work{.flop = {0}, .tokens = 0, .bytes = 60'000'000};
  record.ceiling_per_second = 4e9;
  EXPECT_DOUBLE_EQ(metric_value(record, Metric::kBandwidth).value(), 60e6 / 0.025312 * 1e-12);
  EXPECT_DOUBLE_EQ(metric_value(record, Metric::kCeilingShare).value(), 60e6 / 0.025312 / 4e9 * 100);
}

}  // namespace
}  // namespace tbench::report

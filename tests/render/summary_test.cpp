#include "tbench/render/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::render {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Summary, ShowsTheNumbersOfATimedCase) {
  // 2048 tokens / 25.312 ms = 80,910.2 /s; 1.5 TFLOP / 25.312 ms = 59.26 TFLOP/s; 3 GiB; MFU from 1.4 TFLOP over 989.4:
  // 5.6 %.
  EXPECT_THAT(summary_cells(support::full_record()),
              ElementsAre("ok", "25.31", "0.23", "80,910", "59.26", "5.6", "3.000", "9"));
}

TEST(Summary, LeavesOutWhatIsUnknown) {
  EXPECT_THAT(summary_cells(support::timed_record(support::model_id("forward", "eager"), Seconds{0.008})),
              ElementsAre("ok", "8.000", "", "", "", "", "", "3"));
}

TEST(Summary, ShowsTheReasonInPlaceOfATime) {
  EXPECT_THAT(summary_cells(support::failed_record(support::model_id("forward", "eager"), Status::kIncorrect,
                                                   "logits[3] is NaN")),
              ElementsAre("incorrect", "logits[3] is NaN"));
}

TEST(Summary, HasOneCellAColumn) { EXPECT_EQ(summary_columns().size(), summary_cells(support::full_record()).size()); }

TEST(Metric, HasAName) {
  EXPECT_THAT(metric_names(), ElementsAre("ms", "tokens", "tflops", "mfu", "memory", "bandwidth", "share", "floor"));
  EXPECT_EQ(parse_metric("memory"), Metric::kMemory);
  EXPECT_EQ(parse_metric("tokens"), Metric::kTokens);
  EXPECT_EQ(parse_metric("seconds"), std::nullopt);
  EXPECT_EQ(metric_header(Metric::kMfu), "MFU %");
}

TEST(Metric, IsInTheUnitOfItsHeader) {
  EXPECT_DOUBLE_EQ(metric_value(support::full_record(), Metric::kMilliseconds).value(), 25.312);
  EXPECT_DOUBLE_EQ(metric_value(support::full_record(), Metric::kMemory).value(), 3);
  EXPECT_EQ(metric_value(support::timed_record(support::model_id("forward", "eager"), Seconds{1}), Metric::kMfu),
            std::nullopt);
  Record record = support::full_record();
  record.work = Work{.flop = {0}, .tokens = 0, .bytes = 60'000'000};
  record.ceiling_per_second = 4e9;
  EXPECT_DOUBLE_EQ(metric_value(record, Metric::kBandwidth).value(), 60e6 / 0.025312 * 1e-12);
  EXPECT_DOUBLE_EQ(metric_value(record, Metric::kCeilingShare).value(), 60e6 / 0.025312 / 4e9 * 100);
  record.floor = Seconds{0.0227808};
  EXPECT_NEAR(metric_value(record, Metric::kFloorShare).value(), 90, 1e-9);
  EXPECT_EQ(format_metric(90, Metric::kFloorShare), "90.0");
}

Record short_name(Record record) {
  record.id = CaseId{"Model", {{"impl", record.id.at("impl")}}};
  return record;
}

TEST(ConsoleTable, PrintsTheHeaderOnceAndAlignsRows) {
  const std::string text = support::printed([](std::FILE* out) {
    ConsoleTable table{out, {.name_width = 16, .colour = false}};
    table.row(short_name(support::full_record()));
    table.row(short_name(
        support::failed_record(support::model_id("forward", "eager"), Status::kOom, "out of memory:\n8 GiB")));
    table.row(short_name(support::golden_file().records[3]));
  });
  EXPECT_EQ(text,
            "case              status        median ms      ±%      tokens/s   TFLOP/s   MFU %   peak GiB      n\n"
            "---------------------------------------------------------------------------------------------------\n"
            "Model/impl:sdpa   ok                25.31    0.23        80,910     59.26     5.6      3.000      9  "
            "limited by the host\n"
            "Model/impl:eager  oom          out of memory: 8 GiB\n"
            "Model/impl:eager  unstable          16.00                                                         3"
            "  the median's 95 % interval is 7 % wide after 60 s\n");
}

TEST(Summary, SaysThatATraceDisagrees) {
  Record record = support::full_record();
  record.trace->device = record.timing->median * 1.05;
  EXPECT_THAT(note_of(record), HasSubstr("trace disagrees"));
}

TEST(MarksCell, NamesTimesThatHaveANameAndMarks) {
  EXPECT_EQ(marks_cell(std::vector<NamedMarks>{{"tf32", "~h"}}), "tf32 ~h");
  EXPECT_EQ(marks_cell(std::vector<NamedMarks>{{"fp32", ""}, {"tf32", "~h"}, {"bf16", "*"}}), "tf32 ~h, bf16 *");
  EXPECT_EQ(marks_cell(std::vector<NamedMarks>{{"", "h"}, {"", ""}}), "h");
  EXPECT_EQ(marks_cell({}), "");
}

TEST(ConsoleTable, MarksATimeThatIsTooShortForTheTimer) {
  const auto row = [](const Record& record) {
    return support::printed([&](std::FILE* out) { ConsoleTable{out, {.name_width = 4, .colour = false}}.row(record); });
  };
  const CaseId id{"A", {{"n", "1"}}};
  EXPECT_THAT(row(support::burst_record(id, Seconds{9.9e-6})),
              testing::EndsWith("  3  under 10 us: resolution limited\n"));
  EXPECT_THAT(row(support::burst_record(id, Seconds{10e-6})), testing::EndsWith("  3\n"));
  Record unstable = support::burst_record(id, Seconds{9e-6});
  unstable.status = Status::kUnstable;
  unstable.reason = "wide";
  EXPECT_THAT(row(unstable), testing::EndsWith("  3  wide; under 10 us: resolution limited\n"));
}

TEST(ConsoleTable, SaysWhatIsAboveItsCeiling) {
  const auto row = [](std::int64_t bytes, double microseconds) {
    Record record = support::burst_record(CaseId{"A", {{"n", "1"}}}, Seconds{microseconds * 1e-6});
    record.work->bytes = bytes;
    record.ceiling_per_second = 4e12;
    return support::printed([&](std::FILE* out) { ConsoleTable{out, {.name_width = 4, .colour = false}}.row(record); });
  };
  // 101 million bytes in 25 us are 4.04e12 per second, 1.01 times the ceiling, which is still accepted.
  EXPECT_THAT(row(101'000'000, 25), testing::EndsWith("  3\n"));
  EXPECT_THAT(row(103'000'000, 25),
              testing::EndsWith("  3  1.03 of its ceiling: the formula or the timing is wrong\n"));
  EXPECT_THAT(row(41'200'000, 5), testing::EndsWith("  3  under 10 us: resolution limited; 2.06 of its ceiling: the "
                                                    "formula or the timing is wrong\n"));
}

TEST(ConsoleTable, ColoursTheStatusOnlyWhenAsked) {
  const auto rows = [](bool colour) {
    return support::printed([&](std::FILE* out) {
      ConsoleTable table{out, {.name_width = 16, .colour = colour}};
      table.row(support::full_record());
      table.row(support::golden_file().records[1]);
      table.row(support::failed_record(support::model_id("forward", "eager"), Status::kIncorrect, "wrong"));
    });
  };
  EXPECT_THAT(rows(false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(rows(true), HasSubstr("\x1b[32mok         \x1b[0m"));
  EXPECT_THAT(rows(true), HasSubstr("\x1b[33moom        \x1b[0m"));
  EXPECT_THAT(rows(true), HasSubstr("\x1b[31mincorrect  \x1b[0m"));
}

TEST(ConsoleTable, SumsUp) {
  const auto summary = [](int ok, int oom, const std::optional<std::string>& path) {
    return support::printed([&](std::FILE* out) {
      ConsoleTable table{out, {}};
      for (int i = 0; i < oom; ++i) table.row(support::golden_file().records[1]);
      for (int i = 0; i < ok; ++i) table.row(support::full_record());
      table.summary({192}, path);
    });
  };
  EXPECT_THAT(summary(3, 2, "a.json"), HasSubstr("\n5 cases: 3 ok, 2 oom; results in a.json; 3 min 12 s\n"));
  EXPECT_THAT(summary(1, 0, std::nullopt), HasSubstr("\n1 case: 1 ok; 3 min 12 s\n"));
  EXPECT_EQ(summary(0, 0, std::nullopt), "\n0 cases; 3 min 12 s\n");
}

}  // namespace
}  // namespace tbench::render

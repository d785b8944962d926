#include "tbench/report/pivot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sample_results.hpp"

namespace tbench::report {
namespace {

std::vector<Record> grid() {
  return {timed_record(model_id("forward", "eager", "small", 128), Seconds{0.001}),
          timed_record(model_id("forward", "eager", "small", 1024), Seconds{0.004}),
          timed_record(model_id("forward", "sdpa", "small", 128), Seconds{0.0008}),
          failed_record(model_id("forward", "sdpa", "small", 1024), Status::kOom, "out of memory")};
}

TEST(FamilyTable, PutsWhatIsCommonIntoTheCaption) {
  const FamilyTable table = family_table(grid());
  EXPECT_EQ(table.caption, "Model, size:small batch:4 pass:forward precision:bf16");
  EXPECT_EQ(table.table.text(),
            "ctx   impl   status  median ms  ±%  tokens/s  TFLOP/s  MFU %  peak GiB  n\n"
            "-------------------------------------------------------------------------\n"
            "128   eager  ok          1.000                                          3\n"
            "1024  eager  ok          4.000                                          3\n"
            "128   sdpa   ok         0.8000                                          3\n"
            "1024  sdpa   oom     out of memory\n");
}

TEST(FamilyTable, ShowsRepetitionsAndNotes) {
  std::vector<Record> records{golden_file().records[2], golden_file().records[3]};
  const FamilyTable table = family_table(records);
  EXPECT_EQ(table.table.markdown(),
            "| repetition | status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n | note |\n"
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
            "| 0 | ok | 8.000 |  |  |  |  |  | 3 |  |\n"
            "| 1 | unstable | 16.00 |  |  |  |  |  | 3 | the median's 95 % interval is 7 % wide after 60 s |\n");
}

TEST(FamilyTable, AKeyThatOnlySomeCasesHaveVaries) {
  std::vector<Record> records{timed_record(CaseId{"Gemm", {{"m", "1"}}}, Seconds{1}),
                              timed_record(CaseId{"Gemm", {{"m", "1"}, {"l2", "warm"}}}, Seconds{2})};
  const FamilyTable table = family_table(records);
  EXPECT_EQ(table.caption, "Gemm, m:1");
  EXPECT_EQ(table.table.text().substr(0, 4), "l2  ");
}

TEST(PivotTable, SpreadsAKeyOverColumns) {
  const std::vector<std::string> keys{"ctx"};
  const FamilyTable table = pivot_table(grid(), keys, Metric::kMilliseconds);
  EXPECT_EQ(table.caption, "Model, size:small batch:4 pass:forward precision:bf16, median ms");
  EXPECT_EQ(table.table.text(),
            "impl   ctx:128  ctx:1024\n"
            "------------------------\n"
            "eager    1.000     4.000\n"
            "sdpa    0.8000       OOM\n");
}

TEST(PivotTable, SpreadsSeveralKeys) {
  const std::vector<std::string> keys{"impl", "ctx"};
  std::vector<Record> records = grid();
  records.push_back(timed_record(model_id("train_step", "eager", "small", 128), Seconds{0.002}));
  EXPECT_EQ(pivot_table(records, keys, Metric::kMilliseconds).table.markdown(),
            "| pass | impl:eager ctx:128 | impl:eager ctx:1024 | impl:sdpa ctx:128 | impl:sdpa ctx:1024 |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            "| forward | 1.000 | 4.000 | 0.8000 | OOM |\n"
            "| train_step | 2.000 |  |  |  |\n");
}

TEST(PivotTable, AKeyThatAllShareIsOneColumn) {
  const std::vector<std::string> keys{"size"};
  const FamilyTable table = pivot_table(grid(), keys, Metric::kMilliseconds);
  EXPECT_EQ(table.table.text().substr(0, 24), "ctx   impl   size:small\n");
}

TEST(PivotTable, ACellHoldsAllRepetitions) {
  std::vector<Record> records;
  for (std::int64_t i = 0; i < 3; ++i) {
    records.push_back(timed_record(model_id("forward", "eager"), Seconds{0.001 * static_cast<double>(i + 1)}));
    records.back().repetition_index = i;
    records.back().repetitions = 3;
  }
  const std::vector<std::string> keys{"impl"};
  const auto cell = [&] { return pivot_table(records, keys, Metric::kMilliseconds).table.markdown(); };
  EXPECT_EQ(cell(), "| impl:eager |\n| ---: |\n| 2.000 |\n");
  records[2].status = Status::kUnstable;
  EXPECT_EQ(cell(), "| impl:eager |\n| ---: |\n| 2.000* |\n");
  records[0] = failed_record(records[0].id, Status::kCrashed, "signal 11");
  EXPECT_EQ(cell(), "| impl:eager |\n| ---: |\n| 2.500* (1 of 3 failed) |\n");
}

TEST(PivotTable, MarksTimesThatAreTooShortForTheTimer) {
  const std::vector<Record> records{burst_record(model_id("forward", "eager"), Seconds{5e-6}),
                                    burst_record(model_id("forward", "sdpa"), Seconds{20e-6})};
  const std::vector<std::string> keys{"impl"};
  const FamilyTable table = pivot_table(records, keys, Metric::kMilliseconds);
  EXPECT_THAT(table.caption, testing::EndsWith("median ms (~ under 10 us: resolution limited)"));
  EXPECT_EQ(table.table.markdown(), "| impl:eager | impl:sdpa |\n| ---: | ---: |\n| 0.005000~ | 0.02000 |\n");
  EXPECT_THAT(family_table(records).table.markdown(), testing::HasSubstr("| under 10 us: resolution limited |"));
}

TEST(PivotTable, ShowsOtherMetricsAndOtherStatuses) {
  std::vector<Record> records{full_record(),
                              failed_record(model_id("train_step", "eager"), Status::kUnsupported, "no such kernel")};
  const std::vector<std::string> keys{"impl"};
  EXPECT_EQ(pivot_table(records, keys, Metric::kTokens).table.markdown(),
            "| impl:sdpa | impl:eager |\n| ---: | ---: |\n| 80,910 | unsupported |\n");
  EXPECT_EQ(pivot_table(records, keys, Metric::kMemory).table.markdown(),
            "| impl:sdpa | impl:eager |\n| ---: | ---: |\n| 3.000 | unsupported |\n");
}

TEST(GroupByFamily, KeepsTheOrderOfAppearance) {
  const std::vector<std::vector<Record>> families = group_by_family(golden_file().records);
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0].size(), 4U);
  EXPECT_EQ(families[1].front().id.family(), "Gemm");
  EXPECT_EQ(families[2].front().id.family(), "Attention");
}

}  // namespace
}  // namespace tbench::report

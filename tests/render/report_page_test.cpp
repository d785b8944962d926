#include "tbench/render/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::render {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const ReportOptions& options) {
  try {
    static_cast<void>(report_page(support::golden_file(), options));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EnvironmentHeader, TellsWhereAndWithWhat) {
  EXPECT_EQ(environment_header(support::golden_file(), false),
            "GPU           NVIDIA H200\n"
            "driver        580.159\n"
            "LibTorch      2.11.0\n"
            "clock policy  default\n"
            "date          2026-01-02T03:04:05+00:00\n"
            "build         Release 0123456789ab\n"
            "run           interrupted\n");
  EXPECT_EQ(environment_header(support::golden_file(), true),
            "GPU NVIDIA H200, driver 580.159, LibTorch 2.11.0, clock policy default, date 2026-01-02T03:04:05+00:00, "
            "build Release 0123456789ab, run interrupted\n");
  results::ResultFile file;
  file.environment = support::cpu_environment();
  EXPECT_THAT(environment_header(file, false), HasSubstr("CPU       Example CPU, 16 cores\n"));
}

TEST(MachineLine, TellsTheMachineAndTheBuild) {
  Environment environment = support::golden_file().environment;
  GpuFacts& gpu = environment.gpu.emplace();
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.uuid = "GPU-8ab29454-a37f";
  gpu.memory_bytes = 85'017'493'504;
  gpu.power_limit_w = 700.0;
  gpu.other_processes = 0;
  EXPECT_EQ(machine_line(environment),
            "NVIDIA H100 80GB HBM3 8ab2, 79 GiB, 700 W, driver 580.159, idle | Release 0123456789ab, LibTorch 2.11.0");
  gpu.power_limit_w.reset();
  gpu.other_processes = 2;
  EXPECT_THAT(machine_line(environment), HasSubstr("8ab2, 79 GiB, driver 580.159, 2 other processes | "));
  EXPECT_THAT(machine_line(support::cpu_environment()), HasSubstr("Example CPU, 16 cores | "));
}

TEST(ReportPage, HasATableForEachFamily) {
  const std::string page = report_page(support::golden_file(), {});
  EXPECT_THAT(page, HasSubstr("GPU           NVIDIA H200\n"));
  EXPECT_THAT(page, HasSubstr("\nModel, batch:4 precision:bf16\nsize   ctx   pass        impl   repetition  status"));
  EXPECT_THAT(page, HasSubstr("out of memory: 8589934592 bytes asked for\n"));
  EXPECT_THAT(page, HasSubstr("\nGemm, m:4096 precision:tf32\n"));
}

TEST(ReportPage, FiltersByName) {
  ReportOptions options;
  options.filter = "impl:sdpa$|^Gemm";
  const std::string page = report_page(support::golden_file(), options);
  EXPECT_THAT(page, AllOf(HasSubstr("impl:sdpa"), HasSubstr("Gemm"), Not(HasSubstr("out of memory"))));
}

TEST(ReportPage, PivotsFamiliesThatHaveTheKey) {
  ReportOptions options;
  options.markdown = true;
  options.environment = false;
  options.pivot = {"impl"};
  const std::string page = report_page(support::golden_file(), options);
  EXPECT_EQ(page,
            "**Model, batch:4 precision:bf16, median ms (* unstable or throttled; h limited by the host)**\n\n"
            "| size | ctx | pass | impl:sdpa | impl:eager | marks |\n"
            "| --- | --- | --- | ---: | ---: | --- |\n"
            "| small | 512 | train_step | 25.31 |  | sdpa h |\n"
            "| 2.7B | 1024 | train_step |  | OOM |  |\n"
            "| small | 512 | forward |  | 12.00 | eager * |\n"
            "\n"
            "**Gemm, m:4096 precision:tf32**\n\n"
            "| status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            "| ok | 0.5000 |  |  |  |  |  | 3 |\n"
            "\n**Attention, seq_len:64 pass:forward**\n\n"
            "| status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n | note |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
            "| ok | 0.004250 |  |  |  |  |  | 3 | under 10 us: resolution limited |\n");
}

TEST(ReportPage, RefusesWhatMakesNoSense) {
  ReportOptions options;
  options.filter = "impl:(sdpa";
  EXPECT_THAT(error_of(options),
              AllOf(HasSubstr("--filter"), HasSubstr("'impl:(sdpa'"), HasSubstr("is not an extended regular")));
  options.filter = "impl:fused";
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("no case of 6 matches 'impl:fused'"), HasSubstr("Model/size:small")));
  options.filter = "";
  options.pivot = {"imp"};
  EXPECT_EQ(error_of(options), "--pivot: no case has the key 'imp'; did you mean 'impl'?");
  options.pivot = {"zzz"};
  EXPECT_THAT(error_of(options), HasSubstr("no case has the key 'zzz' (keys: size, ctx, batch, pass, precision, "));
}

TEST(ReportPage, SaysThatThereAreNoCases) {
  results::ResultFile file = support::golden_file();
  file.records.clear();
  EXPECT_THAT(report_page(file, {}), HasSubstr("No cases.\n"));
}

std::vector<Record> grid() {
  return {support::timed_record(support::model_id("forward", "eager", "small", 128), Seconds{0.001}),
          support::timed_record(support::model_id("forward", "eager", "small", 1024), Seconds{0.004}),
          support::timed_record(support::model_id("forward", "sdpa", "small", 128), Seconds{0.0008}),
          support::failed_record(support::model_id("forward", "sdpa", "small", 1024), Status::kOom, "out of memory")};
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
  std::vector<Record> records{support::golden_file().records[2], support::golden_file().records[3]};
  const FamilyTable table = family_table(records);
  EXPECT_EQ(table.table.markdown(),
            "| repetition | status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n | note |\n"
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
            "| 0 | ok | 8.000 |  |  |  |  |  | 3 |  |\n"
            "| 1 | unstable | 16.00 |  |  |  |  |  | 3 | the median's 95 % interval is 7 % wide after 60 s |\n");
}

TEST(FamilyTable, AKeyThatOnlySomeCasesHaveVaries) {
  std::vector<Record> records{support::timed_record(CaseId{"Gemm", {{"m", "1"}}}, Seconds{1}),
                              support::timed_record(CaseId{"Gemm", {{"m", "1"}, {"l2", "warm"}}}, Seconds{2})};
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
  records.push_back(support::timed_record(support::model_id("train_step", "eager", "small", 128), Seconds{0.002}));
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
    records.push_back(
        support::timed_record(support::model_id("forward", "eager"), Seconds{0.001 * static_cast<double>(i + 1)}));
    records.back().repetition_index = i;
    records.back().repetitions = 3;
  }
  const std::vector<std::string> keys{"impl"};
  const auto cell = [&] { return pivot_table(records, keys, Metric::kMilliseconds).table.markdown(); };
  EXPECT_EQ(cell(), "| impl:eager |\n| ---: |\n| 2.000 |\n");
  records[2].status = Status::kUnstable;
  EXPECT_EQ(cell(), "| impl:eager | marks |\n| ---: | --- |\n| 2.000 | * |\n");
  records[0] = support::failed_record(records[0].id, Status::kCrashed, "signal 11");
  EXPECT_EQ(cell(), "| impl:eager | marks |\n| ---: | --- |\n| 2.500 (1 of 3 failed) | * |\n");
}

TEST(PivotTable, MarksTimesThatAreTooShortForTheTimer) {
  const std::vector<Record> records{support::burst_record(support::model_id("forward", "eager"), Seconds{5e-6}),
                                    support::burst_record(support::model_id("forward", "sdpa"), Seconds{20e-6})};
  const std::vector<std::string> keys{"impl"};
  const FamilyTable table = pivot_table(records, keys, Metric::kMilliseconds);
  EXPECT_THAT(table.caption,
              testing::EndsWith("median ms (~ not sharp: under 10 us, never steady, or an interval of over 2 %)"));
  EXPECT_EQ(table.table.markdown(),
            "| impl:eager | impl:sdpa | marks |\n| ---: | ---: | --- |\n| 0.005000 | 0.02000 | eager ~ |\n");
  EXPECT_THAT(family_table(records).table.markdown(), testing::HasSubstr("| under 10 us: resolution limited |"));
}

TEST(PivotTable, MarksWhatWasNeverSteadyAndWhatHasAWideIntervalButNoMemory) {
  std::vector<Record> records{support::timed_record(support::model_id("forward", "eager"), Seconds{1e-3}),
                              support::timed_record(support::model_id("forward", "sdpa"), Seconds{2e-3}),
                              support::timed_record(support::model_id("forward", "flash"), Seconds{3e-3})};
  records[0].timing->warm_up.steady = false;
  records[1].timing->relative_half_width = 0.021;
  records[2].timing->host_bound = true;  // on a CPU, which is its own host
  for (Record& record : records) {
    record.memory.emplace();
    record.memory->allocated_peak = std::int64_t{1} << 30;
  }
  const std::vector<std::string> keys{"impl"};
  EXPECT_EQ(pivot_table(records, keys, Metric::kMilliseconds).table.markdown(),
            "| impl:eager | impl:sdpa | impl:flash | marks |\n| ---: | ---: | ---: | --- |\n"
            "| 1.000 | 2.000 | 3.000 | eager ~, sdpa ~ |\n");
  EXPECT_THAT(pivot_table(records, keys, Metric::kMemory).table.markdown(), Not(HasSubstr("~")));
  EXPECT_THAT(family_table(records).table.markdown(), AllOf(HasSubstr("never steady"), HasSubstr("wide interval")));
  records[0].timing->stop_reason = StopReason::kFixedCount;
  EXPECT_EQ(note_of(records[0]), "") << "nobody asked whether it was";
  records[1].timing->stop_reason = StopReason::kFixedCount;
  EXPECT_EQ(note_of(records[1]), "wide interval") << "whoever chose the count";
}

TEST(PivotTable, ShowsOtherMetricsAndOtherStatuses) {
  std::vector<Record> records{support::full_record(), support::failed_record(support::model_id("train_step", "eager"),
                                                                             Status::kUnsupported, "no such kernel")};
  const std::vector<std::string> keys{"impl"};
  EXPECT_EQ(pivot_table(records, keys, Metric::kTokens).table.markdown(),
            "| impl:sdpa | impl:eager | marks |\n| ---: | ---: | --- |\n| 80,910 | unsupported | sdpa h |\n");
  EXPECT_EQ(pivot_table(records, keys, Metric::kMemory).table.markdown(),
            "| impl:sdpa | impl:eager |\n| ---: | ---: |\n| 3.000 | unsupported |\n");
}

TEST(GroupByFamily, KeepsTheOrderOfAppearance) {
  const std::vector<std::vector<Record>> families = group_by_family(support::golden_file().records);
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0].size(), 4U);
  EXPECT_EQ(families[1].front().id.family(), "Gemm");
  EXPECT_EQ(families[2].front().id.family(), "Attention");
}

}  // namespace
}  // namespace tbench::render

// Tests tables of few cases whose ratios are computed by hand.
#include "tbench/studies/side_by_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::studies {
namespace {

using testing::HasSubstr;

Record attention(const std::string& impl, const std::string& length, double milliseconds,
                 const std::string& precision = "bf16") {
  return support::timed_record({"Attention",
                                {{"heads", "1"},
                                 {"seq_len", length},
                                 {"causal", "1"},
                                 {"pass", "forward"},
                                 {"precision", precision},
                                 {"impl", impl}}},
                               {milliseconds / 1e3});
}

results::NamedResults file_of(std::vector<Record> records, const std::string& uuid = "GPU-1") {
  results::NamedResults file{.label = "a.json", .file = {}};
  file.file.environment = support::gpu_environment();
  file.file.environment.gpu->uuid = uuid;
  file.file.records = std::move(records);
  return file;
}

RatioOptions grid(const std::vector<std::string>& of, const std::string& over = "impl:flash") {
  RatioOptions options{.of = {},
                       .over = parse_selector(over, "--over"),
                       .pivot = "seq_len",
                       .rows = {"heads", "causal", "pass", "precision"},
                       .filter = {}};
  for (const std::string& text : of) options.of.push_back(parse_selector(text, "--of"));
  return options;
}

std::string error_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RatioTable, DividesTheFastestByOver) {
  const std::vector results{
      file_of({attention("sdpa_flash", "128", 3), attention("sdpa_cudnn", "128", 2), attention("flash", "128", 4),
               attention("sdpa_flash", "64", 3), attention("flash", "64", 2)})};
  EXPECT_EQ(ratio_table(results, grid({"impl:sdpa_flash", "impl:sdpa_cudnn"})).markdown(),
            "| heads mask pass precision | 64 | 128 |\n| --- | ---: | ---: |\n"
            "| 1 causal forward bf16 | sdpa_flash 1.50 | sdpa_cudnn 0.50 |\n");
}

TEST(RatioTable, MarksWhatLimitsATime) {
  Record short_one = attention("flash", "64", 2);
  short_one.timing->resolution_limited = true;
  Record by_host = attention("naive", "128", 3);
  by_host.timing->host_bound = true;
  Record unstable = attention("flash", "256", 2);
  unstable.status = Status::kUnstable;
  const std::vector results{file_of({short_one, attention("naive", "64", 3), by_host, attention("flash", "128", 2),
                                     unstable, attention("naive", "256", 3)})};
  EXPECT_THAT(ratio_table(results, grid({"impl:naive"})).markdown(),
              HasSubstr("| 1.50 | 1.50 | 1.50 | 64 ~, 128 h, 256 * |"));
}

/// Returns the record with a trace in which the GPU works for `device_ms`.
Record traced(Record record, double device_ms) {
  record.device.emplace();
  record.trace.emplace();
  record.trace->device = Seconds{device_ms * 1e-3};
  return record;
}

TEST(RatioTable, DividesTheGpusOwnTimesWhereAHostLimitsASide) {
  Record over = traced(attention("flash", "64", 8), 2);
  over.timing->host_bound = true;
  const std::vector results{file_of({over, traced(attention("naive", "64", 12), 5)})};
  EXPECT_THAT(ratio_table(results, grid({"impl:naive"})).markdown(), HasSubstr("| 2.50 | 64 d |"));
  RatioOptions listed = grid({"impl:naive"});
  listed.pivot.clear();
  listed.rows.clear();
  EXPECT_THAT(ratio_table(results, listed).markdown(), HasSubstr("| 2.500 | naive | naive d |"));
}

TEST(RatioTable, TakesOtherFilesOfTheSameGpuAlone) {
  const Record over = attention("flash", "64", 2, "tf32");
  const Record of = attention("sdpa_efficient", "64", 5, "fp32");
  const RatioOptions options = grid({"precision:fp32/impl:sdpa_efficient"}, "precision:tf32/impl:flash");
  EXPECT_THAT(ratio_table(std::vector{file_of({over}), file_of({of})}, options).markdown(), HasSubstr("| 2.50 |"));
  EXPECT_THAT(error_of([&] {
                static_cast<void>(ratio_table(std::vector{file_of({over}), file_of({of}, "GPU-2")}, options));
              }),
              HasSubstr("no case has a time on both sides"));
}

TEST(RatioTable, ALaterFileWins) {
  const std::vector results{file_of({attention("flash", "64", 2), attention("naive", "64", 3)}),
                            file_of({attention("flash", "64", 4), attention("naive", "64", 3)}, "GPU-2")};
  EXPECT_THAT(ratio_table(results, grid({"impl:naive"})).markdown(), HasSubstr("| 0.75 |"));
}

TEST(RatioTable, ListsCasesWithoutAPivot) {
  RatioOptions options = grid({"impl:naive", "impl:compiled"});
  options.pivot.clear();
  options.rows.clear();
  options.filter = "seq_len:(64|128)/.*bf16$";
  const std::vector results{
      file_of({attention("naive", "64", 3), attention("flash", "64", 2), attention("flash", "256", 2),
               attention("naive", "256", 2),
               support::failed_record(attention("flash", "128", 1).id, Status::kOom, "no memory")})};
  const std::string table = ratio_table(results, options).markdown();
  EXPECT_THAT(table, HasSubstr("| case | flash, ms | TFLOP/s | naive / flash | compiled / flash | best other |"));
  EXPECT_THAT(table, HasSubstr("| heads:1 seq_len:64 causal:1 pass:forward precision:bf16 | 2 |"));
  EXPECT_THAT(table, HasSubstr("| 1.500 |  | naive |"));
  EXPECT_THAT(table, HasSubstr("| heads:1 seq_len:128 causal:1 pass:forward precision:bf16 | oom |  |  |  |  |"));
  EXPECT_THAT(table, testing::Not(HasSubstr("256")));
}

TEST(RatioTable, RefusesWhatItCannotDivide) {
  const std::vector results{file_of({attention("flash", "64", 2), attention("naive", "64", 3)})};
  EXPECT_THAT(error_of([&] { static_cast<void>(ratio_table(results, grid({"impl:naive"}, "impl:none"))); }),
              HasSubstr("--over: no case with none"));
  RatioOptions options = grid({"impl:naive"});
  options.rows = {"ctx"};
  EXPECT_THAT(error_of([&] { static_cast<void>(ratio_table(results, options)); }), HasSubstr("has no parameter 'ctx'"));
  EXPECT_THAT(error_of([] { static_cast<void>(parse_selector("flash", "--over")); }),
              HasSubstr("--over: 'flash' selects nothing"));
}

Record in_process(std::int64_t process, double milliseconds) {
  Record record = attention("flash", "64", milliseconds);
  record.repetition_index = process;
  return record;
}

TEST(RepeatTable, NeedsThreeProcesses) {
  const auto run = [](double milliseconds) { return file_of({attention("flash", "64", milliseconds)}); };
  const char* const row = "| 1 64 1 forward bf16 flash | 2.00, 2.02, 1.98 | 2.00 |";
  EXPECT_THAT(repeat_table(std::vector{run(2), run(2.02), run(1.98)}).markdown(), HasSubstr(row));
  EXPECT_THAT(
      repeat_table(std::vector{file_of({in_process(2, 1.98), in_process(0, 2), in_process(1, 2.02)})}).markdown(),
      HasSubstr(row));
  EXPECT_THAT(error_of([&] {
                static_cast<void>(repeat_table(std::vector{run(2), run(2)}));
              }),
              HasSubstr("no case has a time in 3 processes; give a file of --tb_processes=3"));
}

TEST(RepeatTable, CyclesAreOfTheMeanClockWhereThereIsOne) {
  std::vector<Record> records{in_process(0, 2), in_process(1, 4), in_process(2, 4)};
  for (Record& record : records) {
    record.device = DeviceState{};
    record.device->sm_clock_p50 = Hertz{1e9};
  }
  EXPECT_THAT(repeat_table(std::vector{file_of(records)}).markdown(), HasSubstr("| 1000, 1000, 1000 | 50.00 |"));
  records[0].device->sm_clock_mean = Hertz{2e9};
  EXPECT_THAT(repeat_table(std::vector{file_of(records)}).markdown(), HasSubstr("| 2000, 1000, 1000 | 0.00 |"));
  records[1].device.reset();
  EXPECT_THAT(repeat_table(std::vector{file_of(records)}).markdown(), HasSubstr("| 2000, 1000 |  |"));
}

TEST(RepeatTable, PeaksAreTheSameOrDifferOrAreUnknown) {
  std::vector<Record> records{in_process(0, 2), in_process(1, 2), in_process(2, 2)};
  const auto peaks = [&] {
    const std::string row = repeat_table(std::vector{file_of(records)}).markdown();
    const std::size_t end = row.rfind(" |\n");
    return row.substr(row.rfind("| ", end) + 2, end - row.rfind("| ", end) - 2);
  };
  for (Record& record : records) record.memory.reset();
  EXPECT_EQ(peaks(), "");
  for (Record& record : records) {
    record.memory = MemoryUse{};
    record.memory->allocated_peak = 1000;
  }
  EXPECT_EQ(peaks(), "same");
  records[1].memory->allocated_peak = 2000;
  EXPECT_EQ(peaks(), "differ");
}

/// Returns the record with the host times of the sample record.
Record with_host_times(Record record) {
  const Record sample = support::full_record();
  record.host_times = sample.host_times;
  record.harness = sample.harness;
  return record;
}

TEST(HostTimesTable, AddsUpByFamilyAndSaysWhatEachPartAdds) {
  Record gemm = with_host_times(support::timed_record({"Gemm", {{"m", "64"}}}, {1e-3}));
  gemm.host_times->second_verification = {};
  gemm.harness = {0.625};
  const Record untold = attention("naive", "64", 1);
  const std::vector results{file_of(
      {with_host_times(attention("flash", "64", 2)), with_host_times(attention("flash", "128", 2)), gemm, untold})};
  // The sample record has build 0.25, verify 0.125, sample 3.5, memory 0.0625, trace 0.1875, again 0.25 = 4.375 s. Two
  // records have trace 0.375 / (8.75 - 0.375) = 4.5 %, again 0.5 / 8.25 = 6.1 %, sample 7 / 1.75 = 400 %.
  EXPECT_EQ(
      host_times_table(results).markdown(),
      "| family | entries | s | build, s | + % | verify, s | + % | sample, s | + % | memory pass, s | + % | trace, s "
      "| + % | verify again, s | + % |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
      "| Attention | 2 | 8.8 | 0.5 | 6.1 | 0.2 | 2.9 | 7.0 | 400.0 | 0.1 | 1.4 | 0.4 | 4.5 | 0.5 | 6.1 |\n"
      "| Gemm | 1 | 4.1 | 0.2 | 6.5 | 0.1 | 3.1 | 3.5 | 560.0 | 0.1 | 1.5 | 0.2 | 4.8 | 0.0 | 0.0 |\n"
      "| all | 3 | 12.9 | 0.8 | 6.2 | 0.4 | 3.0 | 10.5 | 442.1 | 0.2 | 1.5 | 0.6 | 4.6 | 0.5 | 4.0 |\n");
  EXPECT_THAT(error_of([&] { static_cast<void>(host_times_table(std::vector{file_of({untold})})); }),
              HasSubstr("--host-times: no record"));
}

TEST(PytorchTable, DividesOurTimeByTheirs) {
  const std::vector pytorch{
      results::PytorchTime{.id = attention("naive", "64", 1).id, .median_ms = 4, .per_second = {}}};
  const std::vector results{file_of({attention("naive", "64", 3)}), file_of({attention("naive", "64", 9)})};
  EXPECT_THAT(pytorch_table(pytorch, results).markdown(),
              HasSubstr("| 1 64 1 forward bf16 naive | 4.00 | 3.00 | 0.750 |"));
  EXPECT_THAT(
      error_of([&] { static_cast<void>(pytorch_table(pytorch, std::vector{file_of({attention("flash", "64", 3)})})); }),
      HasSubstr("--pytorch"));
}

TEST(PytorchTable, HasTheRatesOfCeilings) {
  const CaseId copy{"Ceiling", {{"what", "copy"}, {"regime", "burst"}}};
  std::vector<Record> records;
  for (const double milliseconds : {2.0, 1.0, 4.0}) {
    Record record = support::timed_record(copy, {milliseconds / 1e3});
    record.work = Work{.flop = {}, .tokens = 0, .bytes = 4'000'000'000};
    record.repetition_index = static_cast<std::int64_t>(records.size());
    records.push_back(record);
  }
  const std::vector pytorch{results::PytorchTime{.id = copy, .median_ms = 2, .per_second = 1e12}};
  // 4 GB take 2, 1 and 4 ms: 2,000, 4,000 and 1,000 GB/s. The median divided by 1,000 GB/s is 2.
  EXPECT_THAT(pytorch_table(pytorch, std::vector{file_of(records)}).markdown(),
              HasSubstr("| copy burst | GB/s | 2000, 4000, 1000 | 300.00 |  | 2.000 |"));
}

/// Computed by hand: the long kernel runs twice in forward and twice in backward, 90 us for 4 calls against 20 us per
/// call.
TEST(NcuTable, TheLongestKernelsThatBothTimed) {
  Record record = attention("flash", "64", 3);
  record.trace.emplace();
  const auto kernel = [](const char* phase, const char* name, double calls, double total_us) {
    TracedKernel made;
    made.phase = phase;
    made.name = name;
    made.calls = calls;
    made.total = Seconds{total_us * 1e-6};
    return made;
  };
  record.trace->kernels = {kernel("forward", "alpha()", 2, 40), kernel("backward", "alpha()", 2, 50),
                           kernel("forward", "beta()", 1, 9), kernel("forward", "never profiled", 1, 1000)};
  const results::NcuTimes ncu{.id = record.id,
                              .kernels = {{.symbol = "_Z4betav", .launches = 3, .total_us = 30},
                                          {.symbol = "_Z5alphav", .launches = 8, .total_us = 160},
                                          {.symbol = "_Z6absentv", .launches = 1, .total_us = 1}}};
  EXPECT_EQ(ncu_table(ncu, std::vector{file_of({record})}).markdown(),
            "| kernel | calls per step | traced, us | ncu, us | traced / ncu, % |\n"
            "| --- | ---: | ---: | ---: | ---: |\n"
            "| `alpha` | 4 | 22.50 | 20.00 | +12.5 |\n"
            "| `beta` | 1 | 9.00 | 10.00 | -10.0 |\n");
  record.trace->kernels[0].name = "tbench::kernels::sm90::attention_forward_wgmma_kernel()";
  const results::NcuTimes renamed{
      .id = record.id,
      .kernels = {{.symbol = "_ZN6tbench7kernels4sm9025attention_fwd_sm90_kernelEv", .launches = 1, .total_us = 20}}};
  EXPECT_THAT(ncu_table(renamed, std::vector{file_of({record})}).markdown(),
              HasSubstr("| `tbench::kernels::sm90::attention_fwd_sm90_kernel` | 2 | 20.00 | 20.00 |"));
  record.trace->kernels.resize(1);
  record.trace->kernels[0].name = "gamma()";
  EXPECT_THAT(error_of([&] { static_cast<void>(ncu_table(ncu, std::vector{file_of({record})})); }),
              HasSubstr("none of its 3 kernels"));
  EXPECT_THAT(error_of([&] { static_cast<void>(ncu_table(ncu, std::vector{file_of({attention("flash", "64", 3)})})); }),
              HasSubstr("--tb_trace=on"));
}

TEST(SelfComparisonTable, ShowsChangesInPercent) {
  const std::vector cases{results::SelfComparison{.id = attention("flash", "64", 1).id,
                                                  .same = {.ratio = 1.0012, .outcome = "SAME"},
                                                  .other = {.ratio = 0.998, .outcome = "SAME"},
                                                  .planted = {.ratio = 1.029, .outcome = "REGRESSED"},
                                                  .factor = 1.03,
                                                  .detectable = 0.0123}};
  EXPECT_THAT(self_comparison_table(cases).markdown(),
              HasSubstr("| +0.12 SAME | -0.20 SAME | +3.00 | +2.90 REGRESSED | 1.2 |"));
}

}  // namespace
}  // namespace tbench::studies

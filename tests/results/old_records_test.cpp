#include "results/old_records.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::results {
namespace {

ResultFile file_of(const std::string& name) {
  ResultFile file;
  file.environment.gpu = GpuFacts{};
  file.environment.gpu->name = "NVIDIA H200";
  file.environment.gpu->sm_count = 132;
  file.environment.gpu->max_sm_clock_hz = 1.98e9;
  Record record = support::timed_record(CaseId::parse(name), Seconds{0.010});
  record.work = Work{.flop = {1e12}, .tokens = 0};
  record.peak_at_clock = FlopPerSecond{8e14};
  file.records.push_back(record);
  return file;
}

TEST(OldRecords, HaveTheDatasheetsRateOfTheirPrecision) {
  const auto peak_of = [](const std::string& name) {
    ResultFile file = file_of(name);
    complete_old_records(file);
    return file.records.front().boost_peak;
  };
  const auto bf16 = datasheet_peak("NVIDIA H200", 132, Precision::kBf16);
  ASSERT_TRUE(bf16.has_value());
  EXPECT_EQ(peak_of("Model/size:small/precision:bf16"), bf16);
  EXPECT_EQ(peak_of("Accumulation/op:matmul/input:bf16"), bf16);
  EXPECT_EQ(peak_of("Ceiling/what:gemm_bf16"), bf16);
  EXPECT_EQ(peak_of("Gemm/precision:tf32"), datasheet_peak("NVIDIA H200", 132, Precision::kTf32));
  EXPECT_EQ(peak_of("Ceiling/what:copy"), std::nullopt);
}

TEST(OldRecords, KeepNoRateWhereThereWasNone) {
  ResultFile file = file_of("Attention/precision:fp32/impl:flash");
  file.records.front().peak_at_clock.reset();
  complete_old_records(file);
  EXPECT_EQ(file.records.front().boost_peak, std::nullopt);

  ResultFile on_cpu = file_of("Model/precision:bf16");
  on_cpu.environment.gpu.reset();
  complete_old_records(on_cpu);
  EXPECT_EQ(on_cpu.records.front().boost_peak, std::nullopt);
}

TEST(OldRecords, HaveTheOptimizerOfTheirImplementation) {
  const auto optimizer_of = [](const std::string& name) {
    ResultFile file = file_of(name);
    complete_old_records(file);
    return file.records.front().work->optimizer;
  };
  EXPECT_EQ(optimizer_of("Model/pass:train_step/precision:bf16/impl:eager"), "adamw_foreach");
  EXPECT_EQ(optimizer_of("Model/pass:train_step/precision:fp16/impl:eager"), "adamw_fused");
  EXPECT_EQ(optimizer_of("Model/pass:train_step/precision:bf16/impl:sdpa"), "adamw_fused");
  EXPECT_EQ(optimizer_of("Model/pass:train_step/precision:bf16/impl:fused/exec:graph"), "adamw_own");
  EXPECT_EQ(optimizer_of("DataParallel/precision:bf16/impl:sdpa"), "adamw_fused");
  EXPECT_EQ(optimizer_of("Model/pass:forward_backward/precision:bf16/impl:eager"), "");
}

/// A wall time of 1.25 medians turned a clock of 1.9 GHz into 2.4 GHz.
TEST(OldRecords, ForgetARateAtAClockThatTheGpuCannotHave) {
  ResultFile file = file_of("Model/precision:bf16");
  Record& record = file.records.front();
  record.device.emplace();
  record.device->sm_clock_counted = Hertz{1.9e9};
  record.timing->wall = record.timing->median * 1.02;
  complete_old_records(file);
  EXPECT_TRUE(record.peak_at_clock.has_value());
  record.timing->wall = record.timing->median * 1.25;
  complete_old_records(file);
  EXPECT_FALSE(record.peak_at_clock.has_value());
  EXPECT_TRUE(record.boost_peak.has_value());
}

/// In a file of version 8, `mfu` is the share of the peak at the measured clock.
TEST(OldRecords, AreCompletedWhenTheirFileIsRead) {
  ResultFile file = file_of("Model/precision:bf16");
  Json json = result_file_to_json(file);
  EXPECT_FALSE(result_file_from_json(json).records.front().boost_peak.has_value());
  json["context"]["tbench"]["schema_version"] = 8;
  json["benchmarks"][0].erase("peak_share_at_clock");
  json["benchmarks"][0]["mfu"] = 0.125;
  const auto counters = counters_of(result_file_from_json(json).records.front());
  EXPECT_DOUBLE_EQ(counters.at("peak_share_at_clock"), 0.125);
  EXPECT_NEAR(counters.at("mfu"), 1e14 / 989.4e12, 1e-5);
}

}  // namespace
}  // namespace tbench::results

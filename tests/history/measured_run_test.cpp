#include "tbench/history/measured_run.hpp"
#include "tbench/history/history.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/history_samples.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::history {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Error = UsageError>
std::string error_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class Runs : public testing::Test {
 protected:
  std::string write(const std::string& name, std::int64_t start, double seconds,
                    Environment environment = support::gpu_environment()) {
    results::ResultFile file;
    file.environment = std::move(environment);
    file.environment.date = format_timestamp(start);
    file.records = {support::timed_record(support::model_id("forward", "sdpa"), Seconds{seconds})};
    std::string path = folder_.file(name);
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    results::write_result_file(path, file);
    return path;
  }

  support::TemporaryFolder folder_;
};

TEST(Fingerprint, SaysWhatTheMachineIsAndHowItWasSet) {
  Environment environment = support::gpu_environment();
  environment.gpu->name = "NVIDIA H200";
  environment.gpu->sm_count = 132;
  environment.gpu->memory_bytes = 150109880320;  // 139.8 GiB
  environment.gpu->ecc = true;
  environment.gpu->mig = false;
  environment.gpu->power_limit_w = 700;
  EXPECT_EQ(
      fingerprint_of(environment),
      "NVIDIA H200 GPU-00000000-0000-0000-0000-000000000000, 132 SMs, 140 GiB, ECC on, MIG off, 700 W, Example CPU, "
      "clocks default, Release");
  environment.gpu->memory_bytes += 4 << 20;  // another driver reserves a different amount
  EXPECT_THAT(fingerprint_of(environment), HasSubstr("140 GiB"));
  environment.gpu->uuid.clear();
  EXPECT_THAT(fingerprint_of(environment), HasSubstr("NVIDIA H200 of unknown UUID"));
  EXPECT_EQ(fingerprint_of(support::cpu_environment()), "Example CPU, 16 cores, clocks default, Release");
}

TEST(Fingerprint, EveryPartOfItCounts) {
  const std::string same = fingerprint_of(support::gpu_environment());
  const auto changed = [&](auto change) {
    Environment environment = support::gpu_environment();
    change(environment);
    return fingerprint_of(environment) != same;
  };
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->name = "other"; }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->sm_count += 1; }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->memory_bytes *= 2; }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->ecc = !e.gpu->ecc.value_or(false); }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->mig = !e.gpu->mig.value_or(false); }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->power_limit_w = 12; }));
  EXPECT_TRUE(changed([](Environment& e) { e.clock_policy = "locked"; }));
  EXPECT_TRUE(changed([](Environment& e) { e.build_type = "Debug"; }));
  EXPECT_TRUE(changed([](Environment& e) { e.gpu->uuid = "other"; })) << "GPUs of one model differ by percents";
  EXPECT_TRUE(changed([](Environment& e) { e.cpu_name = "other"; })) << "and their hosts by more";
  EXPECT_FALSE(changed([](Environment& e) { e.versions["driver"] = "1"; }));
}

TEST(Epoch, IsTheVersionsThatAreNotOurs) {
  Environment environment = support::gpu_environment();
  environment.versions = {{"driver", "580.1"}, {"cublas", "13.1"}, {"compiler", "g++"}};
  EXPECT_EQ(epoch_of(environment), "driver 580.1, cublas 13.1");
  environment.versions.clear();
  EXPECT_EQ(epoch_of(environment), "unknown software");
}

TEST(Epoch, OfAChangedMachineMatchesItsMeasuredEpoch) {
  const std::string changed = machine_epoch("driver 580.1", "2026-01-03T03:00:00Z");
  EXPECT_EQ(changed, "driver 580.1, machine since 2026-01-03T03:00:00Z");
  EXPECT_TRUE(is_of_epoch(changed, "driver 580.1"));
  EXPECT_TRUE(is_of_epoch("driver 580.1", "driver 580.1"));
  EXPECT_FALSE(is_of_epoch("driver 580.10", "driver 580.1"));
  EXPECT_FALSE(is_of_epoch(changed, "driver 590.1"));
}

TEST(Planted, ResultsWithASlowdownAreNoPartOfAHistory) {
  MeasuredRun run = support::run_of_night(0, {});
  EXPECT_NO_THROW(refuse_planted(run));
  run.planted = "Model/ctx:64:0.05";
  EXPECT_THROW(refuse_planted(run), UsageError);
  History history = History::in_memory();
  EXPECT_THROW(history.add_to_judge(run), UsageError);
}

TEST_F(Runs, FilesOfOneNightAreReplicates) {
  const std::vector<std::string> paths{write("b.json", 2000, 0.02), write("a.json", 1000, 0.01)};
  const MeasuredRun run = read_measured_run(paths);
  EXPECT_EQ(run.started, "1970-01-01T00:16:40Z");
  ASSERT_EQ(run.files.size(), 2U);
  EXPECT_EQ(run.files[0].path, paths[1]);
  EXPECT_EQ(run.files[0].digest.size(), 64U);
  ASSERT_EQ(run.cases.size(), 1U);
  ASSERT_EQ(run.cases[0].replicates.size(), 2U);
  EXPECT_DOUBLE_EQ(run.cases[0].replicates[0].time->value, 0.01);
  EXPECT_EQ(run.digest, read_measured_run(std::vector{paths[1], paths[0]}).digest);
  EXPECT_NE(run.digest, read_measured_run(std::vector{paths[1]}).digest);
}

TEST_F(Runs, FilesThatDoNotBelongTogetherAreRefused) {
  Environment other = support::gpu_environment();
  other.sources_digest = "0000";
  Environment driver = support::gpu_environment();
  driver.versions["driver"] = "1.2";
  Environment clocks = support::gpu_environment();
  clocks.clock_policy = "locked";
  const std::string path = write("a.json", 1000, 0.01);
  const auto refusal = [&](const Environment& environment) {
    const std::vector<std::string> paths{path, write("b.json", 2000, 0.01, environment)};
    return error_of<compare::NotComparable>([&] { static_cast<void>(read_measured_run(paths)); });
  };
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("a.json"), HasSubstr("b.json"), HasSubstr("different builds: sources")));
  EXPECT_THAT(refusal(driver), HasSubstr("driver 1.2"));
  EXPECT_THAT(refusal(clocks), HasSubstr("clocks locked"));
  EXPECT_THAT(error_of([&] {
                static_cast<void>(read_measured_run(std::vector{path, path}));
              }),
              HasSubstr("the same results"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_measured_run(std::vector<std::string>{})); }),
              HasSubstr("no results files"));
}

TEST_F(Runs, AFileMustTellWhenAndOnWhat) {
  const std::string plain = folder_.file("plain.json");
  support::write_text(plain,
                      R"({"context": {}, "benchmarks": [{"name": "BM_a/8", "real_time": 5, "time_unit": "ns"}]})");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_measured_run(std::vector{plain})); }),
              HasSubstr("plain Google Benchmark"));
  results::ResultFile file;
  file.environment = support::gpu_environment();
  file.environment.date = "last night";
  file.records = {support::timed_record(support::model_id("forward", "sdpa"), Seconds{1})};
  results::write_result_file(folder_.file("undated.json"), file);
  EXPECT_THAT(error_of([&] { static_cast<void>(read_measured_run(std::vector{folder_.file("undated.json")})); }),
              AllOf(HasSubstr("undated.json"), HasSubstr("'last night' is not an ISO 8601 date")));
  write("dated.json", support::kDay, 0.01);
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::jthread writer{[&] { support::write_text(pipe, results::read_whole_file(folder_.file("dated.json"))); }};
  EXPECT_THAT(error_of([&] { static_cast<void>(read_measured_run(std::vector{pipe})); }),
              HasSubstr("/pipe': cannot be read twice"));
}

TEST_F(Runs, AFolderIsSortedIntoNights) {
  Environment later = support::gpu_environment();
  later.sources_digest = "0000";
  write("flat1.json", 3 * support::kDay, 0.01);
  write("flat2.json", 3 * support::kDay + 3600, 0.01);
  write("flat3.json", 4 * support::kDay, 0.01);
  write("flat4.json", 4 * support::kDay + 60, 0.01, later);
  write("night/run1.json", 1 * support::kDay, 0.01);
  write("night/run2.json", 1 * support::kDay + 600, 0.01);
  write("night/null/a.json", 1 * support::kDay + 700, 0.01);
  write("night/confirm/a.json", 1 * support::kDay + 800, 0.01);
  support::write_text(folder_.file("night/notes.txt"), "no results");
  support::write_text(folder_.file("night/report.json"), "{\"outcome\": \"PASSED\"}");
  const RunsOfFolder found = read_runs_of_folder(folder_.path());
  std::vector<std::size_t> sizes;
  for (const MeasuredRun& run : found.runs) sizes.push_back(run.files.size());
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(found.ignored, ElementsAre(folder_.file("night/report.json")));
}

TEST_F(Runs, ADamagedFileOfAFolderIsNamedAndTheOthersAreRead) {
  write("good.json", support::kDay, 0.01);
  support::write_text(folder_.file("torn.json"), "{\"context\": {");
  support::write_text(folder_.file("packed.json"), results::pack("\xEF\xBB\xBF{\"context\": {").substr(0, 15));
  support::write_text(folder_.file("spaces.json"), results::pack(std::string(1'000'000, ' ')));
  const RunsOfFolder found = read_runs_of_folder(folder_.path());
  EXPECT_EQ(found.runs.size(), 1U);
  EXPECT_THAT(found.refused, ElementsAre(AllOf(HasSubstr("packed.json"), HasSubstr("cut off")),
                                         AllOf(HasSubstr("torn.json"), HasSubstr("cut off"))));
  EXPECT_THAT(found.ignored, ElementsAre(folder_.file("spaces.json")));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_runs_of_folder(folder_.file("none"))); }),
              HasSubstr("No such file"));
  std::filesystem::create_directory(folder_.file("empty"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_runs_of_folder(folder_.file("empty"))); }),
              HasSubstr("no results here"));
}

TEST_F(Runs, AFileThatRepeatsAnotherIsNoOtherProcess) {
  results::ResultFile file;
  file.environment = support::gpu_environment();
  file.records = {support::full_record()};
  const auto written = [&](const std::string& name, std::int64_t start) {
    file.environment.date = format_timestamp(start);
    results::write_result_file(folder_.file(name), file);
    return folder_.file(name);
  };
  const std::vector<std::string> paths{written("a.json", 1000), written("copy.json", 2000)};
  EXPECT_THAT(error_of([&] { static_cast<void>(read_measured_run(paths)); }),
              AllOf(HasSubstr("a.json' and '"), HasSubstr("copy.json' hold the same samples of")));
  write("other.json", 3000, 0.01);
  std::filesystem::copy_file(paths[0], folder_.file("twice.json"));
  const RunsOfFolder found = read_runs_of_folder(folder_.path());
  EXPECT_THAT(found.refused, ElementsAre(HasSubstr("twice.json' hold the same results"),
                                         HasSubstr("copy.json' hold the same samples of")));
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs.front().files.size(), 2U) << "a.json and other.json";
}

TEST(MeasuredRun, MachinesOfAPoolDifferInTheirGpuAndProcessorAlone) {
  Environment other = support::gpu_environment();
  other.gpu->uuid = "GPU-1";
  other.cpu_name = "Other CPU";
  EXPECT_NE(fingerprint_of(other), fingerprint_of(support::gpu_environment()));
  EXPECT_EQ(pool_of(other), pool_of(support::gpu_environment()));
  other.gpu->power_limit_w = 500;
  EXPECT_NE(pool_of(other), pool_of(support::gpu_environment()));
}

}  // namespace
}  // namespace tbench::history

#include "tbench/report/comparison_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/report/durable_file.hpp"
#include "tbench/report/result_file.hpp"
#include "tbench/report/result_writer.hpp"

namespace tbench::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kGolden = TBENCH_TEST_DATA "/results_golden.json";

std::string plain(const std::string& entries) {
  return R"({"context": {"num_cpus": 4}, "benchmarks": [)" + entries + "]}";
}

std::string message_of(const std::string& path) {
  try {
    static_cast<void>(read_compared_run(path));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "read";
}

class ComparedFile : public testing::Test {
 protected:
  ComparedRun read(const std::string& text) {
    write_text(path_, text);
    return read_compared_run(path_);
  }
  std::string refused(const std::string& text) {
    write_text(path_, text);
    return message_of(path_);
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("a.json");
};

TEST_F(ComparedFile, KeepsWhatAComparisonNeedsOfOurRecords) {
  const ComparedRun run = read_compared_run(kGolden);
  ASSERT_EQ(run.observations.size(), 6U);
  const Replicate& full = run.observations[0].replicate;
  EXPECT_EQ(run.observations[0].id, model_id("train_step", "sdpa"));
  EXPECT_EQ(full.status, Status::kOk);
  EXPECT_EQ(full.time, Seconds{0.025312});
  EXPECT_EQ(full.relative_half_width, 0.0023);
  EXPECT_EQ(full.sm_clock, Hertz{1.98e9});
  EXPECT_EQ(full.peak_bytes, 3'221'225'472);
  EXPECT_EQ(full.work, Flop{1.5e12});
  EXPECT_NEAR(full.ceiling_share.value(), 1.5e12 / 0.025312 / 9.9e14, 1e-12);
  EXPECT_EQ(run.observations[1].replicate.status, Status::kOom);
  EXPECT_FALSE(run.observations[1].replicate.time.has_value());
  EXPECT_EQ(run.environment.value().gpu.value().name, "NVIDIA H200");
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("interrupted"), HasSubstr("repetitions share a process")));
}

TEST_F(ComparedFile, RepetitionsOfSeveralProcessesAreReplicates) {
  ResultFile file = golden_file();
  file.interrupted = false;
  file.options["processes"] = "2";
  write_result_file(path_, file);
  EXPECT_THAT(read_compared_run(path_).warnings, IsEmpty());
}

TEST_F(ComparedFile, ReadsTheJournalOfAKilledRun) {
  ResultFile start = golden_file();
  start.records.clear();
  ResultWriter writer{path_, start, std::chrono::hours{1}};
  for (std::int64_t i = 0; i < 3; ++i) writer.add(numbered_record(i));
  const ComparedRun run = read_compared_run(path_);
  EXPECT_EQ(run.observations.size(), 3U);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("the run was killed")));
}

TEST_F(ComparedFile, PlainGoogleBenchmarkJson) {
  const ComparedRun run = read(plain(
      R"({"name": "BM_copy/8/iterations:3/manual_time", "run_name": "BM_copy/8/iterations:3/manual_time",
          "run_type": "iteration", "real_time": 250, "time_unit": "us", "repetition_index": 0},
         {"name": "BM_copy/8/iterations:3/manual_time", "run_type": "iteration", "real_time": 0.5, "time_unit": "ms"},
         {"name": "BM_copy/8_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1},
         {"name": "BM_old", "real_time": 5},
         {"name": "BM_bad", "error_occurred": true, "error_message": "no device"},
         {"name": "Gemm/precision:tf32/m:64/real_time", "real_time": 2, "time_unit": "s"})"));
  EXPECT_FALSE(run.environment.has_value());
  ASSERT_EQ(run.observations.size(), 5U);
  EXPECT_EQ(run.observations[0].id.name(), "BM_copy/8");
  EXPECT_EQ(run.observations[0].replicate.time, Seconds{250e-6});
  EXPECT_EQ(run.observations[1].replicate.time, Seconds{0.0005});
  EXPECT_EQ(run.observations[2].replicate.time, Seconds{5e-9});
  EXPECT_EQ(run.observations[3].replicate.status, Status::kCrashed);
  EXPECT_EQ(run.observations[3].replicate.reason, "no device");
  EXPECT_EQ(match_key(run.observations[4].id), match_key(CaseId{"Gemm", {{"m", "64"}, {"precision", "tf32"}}}));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("plain Google Benchmark JSON"), HasSubstr("share a process")));
}

TEST_F(ComparedFile, RefusesWhatCannotBeCompared) {
  EXPECT_THAT(message_of(folder_.file("none.json")), HasSubstr("No such file"));
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  EXPECT_THAT(refused("{\"context\": "), HasSubstr("cut off"));
  EXPECT_THAT(refused("\x7f\x45\x4c\x46"), HasSubstr("not JSON"));
  EXPECT_THAT(refused(std::string(200'000, '[')), HasSubstr("cut off"));
  EXPECT_THAT(refused("[]"), HasSubstr("not of a benchmark"));
  EXPECT_THAT(refused(plain("")), HasSubstr("no measured entries"));
  EXPECT_THAT(refused(plain(R"({"name": "a", "real_time": NaN})")), HasSubstr("not JSON"));
  EXPECT_THAT(refused(plain(R"({"name": "a", "real_time": 0})")), HasSubstr("a time of 0 ns"));
  EXPECT_THAT(refused(plain(R"({"name": "a"})")), HasSubstr("neither a time nor an error"));
  EXPECT_THAT(refused(plain(R"({"name": "a", "real_time": 1, "time_unit": "h"})")), HasSubstr("time unit 'h'"));
  EXPECT_THAT(refused(plain(R"({"real_time": 1})")), AllOf(HasSubstr("benchmarks[0]"), HasSubstr("no name")));
}

TEST_F(ComparedFile, OurFilesAreReadStrictly) {
  const std::string text = read_whole_file(kGolden);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_THAT(refused(with("\"relative_iqr\": 0.004,\n          \"relative", "\"other\": 1,\n          \"relative")),
              HasSubstr("benchmarks[0].tbench.timing.other"));
  EXPECT_THAT(refused(with("\"median_s\": 0.025312", "\"median_s\": 0.0")), HasSubstr("a median of 0 s"));
  EXPECT_THAT(refused(with("\"benchmarks\": [", "\"benchmarks\": [{\"name\": \"x\", \"real_time\": 1},")),
              HasSubstr("an entry that has no record"));
  EXPECT_THAT(refused(text.substr(0, text.size() / 2)), HasSubstr("cut off"));
}

TEST(ObservationOf, TellsHowTheTimeWasTaken) {
  const Replicate burst = observation_of(burst_record(model_id("forward", "sdpa"), Seconds{5e-6})).replicate;
  EXPECT_EQ(burst.regime, Regime::kBurst);
  EXPECT_EQ(burst.l2, L2State::kCold);
  const Replicate steps = observation_of(full_record()).replicate;
  EXPECT_EQ(steps.regime, Regime::kSustained);
  EXPECT_FALSE(steps.l2.has_value());
  const Replicate failed = observation_of(failed_record(model_id("forward", "sdpa"), Status::kOom, "")).replicate;
  EXPECT_FALSE(failed.regime.has_value());
}

TEST_F(ComparedFile, TheSchemaBeforeThisOneIsComparable) {
  std::string text = read_whole_file(TBENCH_TEST_DATA "/results_golden.json");
  const std::string from = "\"schema_version\": 4";
  write_text(path_, text.replace(text.find(from), from.size(), "\"schema_version\": 1"));
  EXPECT_EQ(read_compared_run(path_).observations.size(), golden_file().records.size());
}

TEST_F(ComparedFile, AnotherSchemaIsNotComparable) {
  std::string text = read_whole_file(kGolden);
  const std::string from = "\"schema_version\": 4";
  text.replace(text.find(from), from.size(), "\"schema_version\": 9");
  write_text(path_, text);
  EXPECT_THROW(static_cast<void>(read_compared_run(path_)), NotComparable);
}

TEST_F(ComparedFile, SeveralFilesAreReadInOrderAndMakeASide) {
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) {
    ResultFile file = golden_file();
    file.interrupted = false;
    file.records = {timed_record(model_id("forward", "sdpa"), Seconds{0.01 * (i + 1)})};
    paths.push_back(folder_.file(std::to_string(i) + ".json"));
    write_result_file(paths.back(), file);
  }
  const ComparisonSide side = side_of(read_compared_runs(paths));
  EXPECT_EQ(side.paths, paths);
  EXPECT_EQ(side.environments.size(), 5U);
  ASSERT_EQ(side.cases.size(), 1U);
  ASSERT_EQ(side.cases[0].replicates.size(), 5U);
  EXPECT_EQ(side.cases[0].replicates[4].time, Seconds{0.05});
  EXPECT_THAT(side.warnings, IsEmpty());
  paths.push_back(folder_.file("none.json"));
  EXPECT_THROW(static_cast<void>(read_compared_runs(paths)), UsageError);
}

}  // namespace
}  // namespace tbench::report

#include "tbench/compare/sides.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kGolden = TBENCH_TEST_DATA "/results_golden.json";

std::string plain(const std::string& entries) {
  return R"({"context": {"num_cpus": 4}, "benchmarks": [)" + entries + "]}";
}

std::string message_of(const std::string& path) {
  try {
    static_cast<void>(read_side(path));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "read";
}

std::size_t replicates_in(const ComparisonSide& side) {
  std::size_t count = 0;
  for (const results::MeasuredCase& c : side.cases) count += c.replicates.size();
  return count;
}

class ComparedFile : public testing::Test {
 protected:
  ComparisonSide read(const std::string& text) {
    support::write_text(path_, text);
    return read_side(path_);
  }
  std::string refused(const std::string& text) {
    support::write_text(path_, text);
    return message_of(path_);
  }
  support::TemporaryFolder folder_;
  std::string path_ = folder_.file("a.json");
};

/// Counted clock in support::full_record().
constexpr Hertz kCountedClock{1.9735e9};

TEST_F(ComparedFile, KeepsWhatAComparisonNeedsOfOurRecords) {
  const ComparisonSide run = read_side(kGolden);
  ASSERT_EQ(replicates_in(run), run.cases.size()) << "one process";
  const results::Replicate& full = run.cases[0].replicates[0];
  EXPECT_EQ(run.cases[0].id, support::model_id("train_step", "sdpa"));
  EXPECT_EQ(full.status, Status::kOk);
  EXPECT_EQ(full.time, Seconds{0.025312});
  EXPECT_NEAR(full.relative_half_width.value(), 0.0023, 1e-12);
  EXPECT_EQ(full.sm_clock, kCountedClock);
  EXPECT_EQ(full.peak_bytes, 3'221'225'472);
  EXPECT_EQ(full.work, Flop{1.5e12});
  EXPECT_NEAR(full.peak_share_at_clock.value(), 1.5e12 / 0.025312 / 9.9e14, 1e-12);
  EXPECT_FALSE(full.ceiling_share.has_value());
  const results::Replicate& attention = run.cases.back().replicates[0];
  EXPECT_NEAR(attention.ceiling_share.value(), 16e6 / 4.25e-6 / 4.25e12, 1e-12);
  EXPECT_FALSE(attention.peak_share_at_clock.has_value());
  EXPECT_EQ(run.cases[1].replicates[0].status, Status::kOom);
  EXPECT_FALSE(run.cases[1].replicates[0].time.has_value());
  EXPECT_EQ(run.environments.at(0).gpu.value().name, "NVIDIA H200");
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("interrupted"),
                                        HasSubstr("repetitions share a process and count as one replicate")));
}

TEST_F(ComparedFile, RepetitionsOfSeveralProcessesAreReplicates) {
  results::ResultFile file = support::golden_file();
  file.interrupted = false;
  file.options["processes"] = "2";
  results::write_result_file(path_, file);
  EXPECT_THAT(read_side(path_).warnings, IsEmpty());
  EXPECT_EQ(replicates_in(read_side(path_)), 6U);
}

TEST_F(ComparedFile, WarnsOfOtherProcessesOnTheGpuAtItsBeginningAndItsEnd) {
  results::ResultFile file = support::golden_file();
  file.interrupted = false;
  file.options["processes"] = "2";
  file.environment.gpu->other_processes = 2;
  file.other_processes_at_end = 1;
  results::write_result_file(path_, file);
  const ComparisonSide run = read_side(path_);
  EXPECT_THAT(run.shared_gpus, ElementsAre(HasSubstr("2 other processes were on the GPU when it began"),
                                           HasSubstr("1 other process was on the GPU when it ended")));
  EXPECT_EQ(run.warnings, run.shared_gpus);
  file.other_processes_at_end = 0;
  results::write_result_file(path_, file);
  EXPECT_EQ(merged({read_side(path_), run}).other_processes_at_end, 1);
}

TEST_F(ComparedFile, KnowsThePlanAndTheWayOfMeasuring) {
  results::ResultFile file = support::golden_file();
  file.options = {{"processes", "2"}, {"min_time_s", "0.5"}, {"seed", "1"}, {"samples", "60"}, {"suite", "standard"}};
  file.plan = {"Gemm/m:1/n:2", "Gemm/n:3/m:1"};
  file.interrupted = false;
  results::write_result_file(path_, file);
  const ComparisonSide run = read_side(path_);
  EXPECT_FALSE(run.was_interrupted);
  EXPECT_EQ(run.planned, (std::map<std::string, std::size_t>{{"Gemm/m:1/n:2", 2}, {"Gemm/m:1/n:3", 2}}));
  EXPECT_EQ(run.way, "min_time_s 0.5, samples 60");
  EXPECT_EQ(run.suite, "standard");
  EXPECT_EQ(merged({run, run}).planned.at("Gemm/m:1/n:2"), 4U);
  EXPECT_TRUE(read_side(kGolden).was_interrupted);
}

TEST_F(ComparedFile, ReadsTheJournalOfAKilledRun) {
  results::ResultFile start = support::golden_file();
  start.records.clear();
  results::ResultWriter writer{path_, start, std::chrono::hours{1}};
  for (std::int64_t i = 0; i < 3; ++i) writer.add(support::numbered_record(i));
  const ComparisonSide run = read_side(path_);
  EXPECT_EQ(replicates_in(run), 3U);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("the run was killed")));
}

TEST_F(ComparedFile, PlainGoogleBenchmarkJson) {
  const ComparisonSide run = read(plain(
      R"({"name": "BM_copy/8/iterations:3/manual_time", "run_name": "BM_copy/8/iterations:3/manual_time",
          "run_type": "iteration", "real_time": 250, "time_unit": "us", "repetition_index": 0},
         {"name": "BM_copy/8/iterations:3/manual_time", "run_type": "iteration", "real_time": 0.5, "time_unit": "ms"},
         {"name": "BM_copy/8/iterations:3/manual_time_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1},
         {"name": "BM_old", "real_time": 5},
         {"name": "BM_bad", "error_occurred": true, "error_message": "no device"},
         {"name": "Gemm/precision:tf32/m:64/real_time", "real_time": 2, "time_unit": "s"})"));
  EXPECT_THAT(run.environments, IsEmpty());
  ASSERT_EQ(replicates_in(run), 4U);
  EXPECT_EQ(run.cases[0].id.name(), "BM_copy/8");
  EXPECT_EQ(run.cases[0].replicates[0].time, Seconds{375e-6}) << "the median of its repetitions";
  // The logarithms have the standard deviation ln(2) / sqrt(2). Divided by sqrt(2) and times t = 12.7062 for one degree
  // of freedom, this is the half-width.
  EXPECT_NEAR(run.cases[0].replicates[0].relative_half_width.value(), 12.7062 * 0.693147 / 2, 1e-3);
  EXPECT_EQ(run.cases[1].replicates[0].time, Seconds{5e-9});
  EXPECT_EQ(run.cases[2].replicates[0].status, Status::kCrashed);
  EXPECT_EQ(run.cases[2].replicates[0].reason, "no device");
  EXPECT_EQ(results::match_key(run.cases[3].id),
            results::match_key(CaseId{"Gemm", {{"m", "64"}, {"precision", "tf32"}}}));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("plain Google Benchmark JSON"), HasSubstr("share a process")));
}

TEST_F(ComparedFile, TenThousandIdenticalCasesOfOneProcessASideHaveNoVerdict) {
  std::mt19937_64 random{23};
  const auto side = [&](const std::string& name) {
    std::normal_distribution<double> between{0, 0.006};
    std::normal_distribution<double> within{0, 0.005};
    std::string entries;
    for (int i = 0; i < 10'000; ++i) {
      const double process = std::exp(between(random));
      for (int repetition = 0; repetition < 5; ++repetition) {
        entries += fmt::format(R"({}{{"name": "BM/{}", "real_time": {}}})", entries.empty() ? "" : ",", i,
                               100 * process * std::exp(within(random)));
      }
    }
    support::write_text(folder_.file(name), plain(entries));
    return read_side(folder_.file(name));
  };
  const Comparison comparison = compare(side("a.json"), side("b.json"), {});
  EXPECT_EQ(count_outcomes(comparison), (std::map<Outcome, std::size_t>{{Outcome::kUndecided, 10'000}}));
  EXPECT_EQ(exit_status(comparison, false), kExitOk);
  EXPECT_TRUE(comparison.cases.front().interval_is_within);
}

TEST_F(ComparedFile, RefusesWhatCannotBeCompared) {
  EXPECT_THAT(message_of(folder_.file("none.json")), HasSubstr("no such file"));
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  EXPECT_THAT(refused("{\"context\": "), HasSubstr("cut off"));
  EXPECT_THAT(refused("\x7f\x45\x4c\x46"), HasSubstr("not JSON"));
  EXPECT_THAT(refused(std::string(200'000, '[')), HasSubstr("nested more than 64 levels deep"));
  EXPECT_THAT(refused("[]"), HasSubstr("not of a benchmark"));
  EXPECT_THAT(refused(plain("")), HasSubstr("no benchmark ran"));
}

TEST_F(ComparedFile, OurFilesAreReadStrictly) {
  const std::string text = results::read_whole_file(kGolden);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_THAT(refused(with("\"stop_reason\": ", "\"other\": 1,\n          \"stop_reason\": ")),
              HasSubstr("benchmarks[0].tbench.timing.other"));
  EXPECT_THAT(refused(with("\"median_s\": 0.025312", "\"median_s\": 0.0")), HasSubstr("breaks the rule 'statistics'"));
  EXPECT_THAT(refused(with("\"benchmarks\": [", "\"benchmarks\": [{\"name\": \"x\", \"real_time\": 1},")),
              HasSubstr("an entry that has no record"));
  EXPECT_THAT(refused(with("\"median_s\": 0.025312", "\"median_s\": NaN")), HasSubstr("not JSON, at byte"));
  EXPECT_THAT(refused(text.substr(0, text.size() / 2)), HasSubstr("cut off"));
}

TEST(ObservationOf, TellsHowTheTimeWasTaken) {
  const results::Replicate burst =
      results::measured_case(support::burst_record(support::model_id("forward", "sdpa"), Seconds{5e-6}))
          .replicates.front();
  EXPECT_EQ(burst.regime, Regime::kBurst);
  EXPECT_EQ(burst.l2, L2State::kCold);
  const results::Replicate steps = results::measured_case(support::full_record()).replicates.front();
  EXPECT_EQ(steps.regime, Regime::kSustained);
  EXPECT_FALSE(steps.l2.has_value());
  const results::Replicate failed =
      results::measured_case(support::failed_record(support::model_id("forward", "sdpa"), Status::kOom, ""))
          .replicates.front();
  EXPECT_FALSE(failed.regime.has_value());
}

TEST(ObservationOf, TheClockIsTheCountedOneElseTheMeanWhichIsFinerThanItsSteps) {
  Record record = support::full_record();
  const results::Replicate counted = results::measured_case(record).replicates.front();
  EXPECT_EQ(counted.sm_clock, kCountedClock);
  EXPECT_EQ(counted.clock_kind, results::ClockKind::kCounted);
  record.device->sm_clock_counted.reset();
  EXPECT_EQ(results::measured_case(record).replicates.front().clock_kind, results::ClockKind::kPolled);
  record.device->clock_source.reset();
  EXPECT_EQ(results::measured_case(record).replicates.front().clock_kind, results::ClockKind::kChunk);
  record.device->sm_clock_p50 = Hertz{1.5e9};
  record.device->sm_clock_mean = Hertz{1.507e9};
  EXPECT_EQ(results::measured_case(record).replicates.front().sm_clock, Hertz{1.507e9});
  record.device->sm_clock_mean.reset();
  EXPECT_EQ(results::measured_case(record).replicates.front().sm_clock, Hertz{1.5e9});
}

TEST_F(ComparedFile, TheSchemaBeforeThisOneIsComparable) {
  std::string text = results::read_whole_file(TBENCH_TEST_DATA "/results_golden.json");
  const std::string from = "\"schema_version\": 11";
  support::write_text(path_, text.replace(text.find(from), from.size(), "\"schema_version\": 1"));
  EXPECT_EQ(replicates_in(read_side(path_)), replicates_in(read_side(kGolden)));
}

TEST_F(ComparedFile, AnotherSchemaIsNotComparable) {
  std::string text = results::read_whole_file(kGolden);
  const std::string from = "\"schema_version\": 11";
  text.replace(text.find(from), from.size(), "\"schema_version\": 12");
  support::write_text(path_, text);
  EXPECT_THROW(static_cast<void>(read_side(path_)), NotComparable);
}

TEST_F(ComparedFile, SeveralFilesAreReadInOrderAndMakeASide) {
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) {
    results::ResultFile file = support::golden_file();
    file.interrupted = false;
    file.records = {support::timed_record(support::model_id("forward", "sdpa"), Seconds{0.01 * (i + 1)})};
    paths.push_back(folder_.file(std::to_string(i) + ".json"));
    results::write_result_file(paths.back(), file);
  }
  const ComparisonSide side = merged(read_sides(paths));
  EXPECT_EQ(side.paths, paths);
  EXPECT_EQ(side.environments.size(), 5U);
  ASSERT_EQ(side.cases.size(), 1U);
  ASSERT_EQ(side.cases[0].replicates.size(), 5U);
  EXPECT_EQ(side.cases[0].replicates[4].time, Seconds{0.05});
  EXPECT_THAT(side.warnings, IsEmpty());
  paths.push_back(folder_.file("none.json"));
  EXPECT_THROW(static_cast<void>(read_sides(paths)), UsageError);
}

}  // namespace
}  // namespace tbench::compare

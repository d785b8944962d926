#include "bench/plan/durations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using results::DurationTable;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CaseId model(int number) { return CaseId{"Model", {{"n", std::to_string(number)}}}; }
CaseId gemm(int number) { return CaseId{"Gemm", {{"n", std::to_string(number)}}}; }
const CaseId kCeiling{"Ceiling", {{"what", "copy"}}};

struct TimedId {
  CaseId id;
  double seconds;
};

DurationTable table_of(const std::vector<TimedId>& rows, const std::string& gpu = "NVIDIA H100 80GB HBM3") {
  std::string text = "# format: 1\n# gpu: " + gpu + "\n# memory_bytes: 1\ncase,seconds,status\n";
  for (const auto& [id, seconds] : rows) text += id.name() + "," + std::to_string(seconds) + ",ok\n";
  return DurationTable::parse(text, "h100.csv");
}

std::vector<ScheduledCase> plan_of(const std::vector<TimedId>& rows) {
  std::vector<ScheduledCase> plan;
  for (const TimedId& row : rows) plan.push_back({.id = row.id});
  return plan;
}

TEST(ChosenDurations, AreOfTheGpuElseOfAnH100) {
  const auto chosen = [](const Options& options, Suite suite, const std::optional<std::string>& gpu) {
    return choose_durations(options, suite, gpu);
  };
  Options options;
  const std::string h100 = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(chosen(options, Suite::kStandard, h100)->is_of_this_gpu());
  for (const auto& gpu : {std::optional<std::string>{"NVIDIA A100"}, std::optional<std::string>{}}) {
    const std::optional<RunDurations> reference = chosen(options, Suite::kFull, gpu);
    EXPECT_EQ(reference->table.gpu(), h100);
    EXPECT_FALSE(reference->is_of_this_gpu());
  }
  EXPECT_FALSE(chosen(options, Suite::kSmoke, h100));
  options.device = DeviceChoice::kCpu;
  EXPECT_FALSE(chosen(options, Suite::kStandard, std::nullopt));
  options.durations = "off";
  options.device = DeviceChoice::kAuto;
  EXPECT_FALSE(chosen(options, Suite::kStandard, h100));
}

/// A file for one test, removed at the end. Parts of std::filesystem do not work with LibTorch's library.
class TemporaryTable {
 public:
  ~TemporaryTable() { ::unlink(path_.c_str()); }
  void write(const std::string& text) const { std::ofstream{path_} << text; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_ = ::testing::TempDir() + "tbench_durations_" + std::to_string(::getpid()) + ".csv";
};

TEST(ChosenDurations, AGivenTableOfAnotherGpuOnlyEstimates) {
  const TemporaryTable file;
  Options options;
  options.durations = file.path();
  file.write("# format: 1\n# gpu: NVIDIA A100\n# memory_bytes: 1\ncase,seconds,status\nModel/n:1,2,ok\n");
  const auto note_on = [&](const std::optional<std::string>& gpu) {
    return mismatch_note(options, *choose_durations(options, Suite::kStandard, gpu)).value_or("");
  };
  EXPECT_EQ(note_on("NVIDIA A100"), "");
  EXPECT_EQ(note_on("Tesla T4"),
            "--tb_durations=" + options.durations + ": of an NVIDIA A100, and not of a Tesla T4. They only estimate.");
  EXPECT_THAT(note_on(std::nullopt), HasSubstr("not of this machine, where no GPU is used"));
  file.write("");
  EXPECT_THROW(static_cast<void>(choose_durations(options, Suite::kStandard, "NVIDIA A100")), UsageError);
  options.durations = file.path() + ".none";
  EXPECT_THROW(static_cast<void>(choose_durations(options, Suite::kStandard, "NVIDIA A100")), UsageError);
}

TEST(PlanText, SaysHowManyCasesHowLongAndWhere) {
  const std::vector<TimedId> rows{{kCeiling, 1}, {model(1), 100}, {model(2), 199}};
  const std::set<std::string> selected{model(1).name(), model(2).name(), model(3).name(), gemm(1).name()};
  RunDurations durations{.table = table_of(rows), .gpu = "NVIDIA H100 80GB HBM3"};
  std::vector<ScheduledCase> plan = plan_of(rows);
  const auto text = [&] { return plan_text(plan, selected, &durations); };
  EXPECT_EQ(text(), "2 cases and 1 ceiling, about 5 min on an NVIDIA H100 80GB HBM3");
  EXPECT_EQ(plan_text(plan, selected, nullptr), "2 cases and 1 ceiling");
  for (std::size_t i = 0; i < rows.size(); ++i) plan.push_back({.id = rows[i].id, .process = 1});
  EXPECT_EQ(text(), "2 cases and 1 ceiling in 2 processes, about 10 min on an NVIDIA H100 80GB HBM3");
  plan = {{.id = model(3)}};
  durations.gpu = "NVIDIA A100";
  EXPECT_EQ(text(),
            "1 case, about 2 min on an NVIDIA H100 80GB HBM3; no durations of an NVIDIA A100 are known; 1 case without "
            "a measured duration is estimated from its neighbours");
  plan = {{.id = model(3)}, {.id = gemm(1)}};
  EXPECT_THAT(text(), HasSubstr("; 2 cases without a measured duration are estimated from their neighbours"));
}

TEST(KnownOom, IsWhatNeverFittedThisGpuModelAndIsNotTried) {
  const std::string h100 = "NVIDIA H100 80GB HBM3";
  const DurationTable table =
      DurationTable::parse("# format: 1\n# gpu: " + h100 +
                               "\n# memory_bytes: 1000\ncase,seconds,status\nModel/n:1,3.0,oom\nModel/n:2,3.0,ok\n",
                           "h100.csv");
  RunDurations durations{.table = table, .gpu = h100};
  Environment environment;
  environment.gpu.emplace().memory_bytes = 1005;  // ECC and drivers change the size slightly
  Options options;
  const auto status_of = [&](int number) {
    const std::optional<Record> record = known_oom(model(number), &durations, environment, options);
    return record ? std::optional{record->status} : std::nullopt;
  };
  EXPECT_EQ(status_of(1), Status::kOom);
  EXPECT_THAT(known_oom(model(1), &durations, environment, options)->reason,
              AllOf(HasSubstr("not tried"), HasSubstr(table.label()), HasSubstr("--tb_try_oom")));
  EXPECT_FALSE(status_of(2));
  EXPECT_FALSE(status_of(3));
  EXPECT_FALSE(known_oom(model(1), nullptr, environment, options));
  options.try_oom = true;
  EXPECT_FALSE(status_of(1));
  options.try_oom = false;
  environment.gpu->memory_bytes = 2000;
  EXPECT_FALSE(status_of(1)) << "a GPU with more memory";
  environment.gpu->memory_bytes = 500;
  EXPECT_EQ(status_of(1), Status::kOom);
  durations.gpu = "NVIDIA A100";
  EXPECT_FALSE(status_of(1)) << "a table of another model";
}

TEST(ShardsByDurations, TakeEquallyLongAndKeepTheOrder) {
  const std::vector<TimedId> rows{{model(0), 1}, {kCeiling, 100}, {model(1), 9}, {model(2), 4}, {model(3), 3}};
  Selection selection{Suite::kStandard, {}};
  for (const TimedId& row : rows) selection.cases.push_back(row.id);
  const DurationTable table = table_of(rows);
  EXPECT_THAT(shard_places(selection, {1, 2}, table), ElementsAre(1));
  const Places second = shard_places(selection, {2, 2}, table);
  EXPECT_THAT(second, ElementsAre(0, 2, 3));
  EXPECT_THAT(select_shard(selection, Shard{2, 2}, second), ElementsAre(model(0), model(2), model(3)));
  EXPECT_THAT(select_shard(selection, Shard{1, 2}, Places{1}), ElementsAre(kCeiling, model(1)));
  EXPECT_THROW(static_cast<void>(select_shard(selection, Shard{5, 5}, shard_places(selection, {5, 5}, table))),
               UsageError);
}

TEST(ShardsByDurations, AreRecordedWithTheTable) {
  const RunDurations durations{.table = table_of({{model(1), 2}}), .gpu = {}};
  const auto recorded = [&](const Options& options, const std::optional<Places>& places) {
    std::map<std::string, std::string> found;
    record_durations(found, options, durations, places);
    return found;
  };
  Options options;
  EXPECT_TRUE(recorded(options, std::nullopt).empty());
  const std::string label = "h100@" + durations.table.digest();
  EXPECT_EQ(recorded(options, Places{0, 1, 5}),
            (std::map<std::string, std::string>{{"shard_places", "0-1,5"}, {"durations", label}}));
  options.stop_after = Seconds{60};
  EXPECT_EQ(recorded(options, std::nullopt), (std::map<std::string, std::string>{{"durations", label}}));
}

TEST(ExpectedTimes, AreWithinAFifthOnASlowHostAfterAQuarterOfTheRun) {
  std::mt19937 generator{7};
  std::lognormal_distribution<double> spread{0, 0.5};
  std::uniform_real_distribution<double> noise{0.8, 1.25};
  for (const double slowness : {1.0, 1.4, 2.2}) {
    std::vector<TimedId> rows;
    std::vector<double> took;
    // The families are interleaved, as in the random order of a process. The host slows them down by different factors.
    for (int i = 0; i < 300; ++i) {
      const bool is_model = i % 3 == 0;
      const double expected = (is_model ? 4.0 : 0.5) * spread(generator);
      rows.push_back({is_model ? model(i) : gemm(i), expected});
      took.push_back(expected * (is_model ? slowness : 1 + (slowness - 1) / 4) * noise(generator));
    }
    ExpectedTimes times{plan_of(rows), table_of(rows)};
    double left = 0;
    for (const double seconds : took) left += seconds;
    double elapsed = 0;
    const double whole = left;
    for (std::size_t i = 0; i < took.size(); ++i) {
      if (elapsed > whole / 4 && left > 5) {
        EXPECT_NEAR(times.remaining(i).value / left, 1.0, 0.2) << slowness << ", " << i;
      }
      times.finished(i, {took[i]});
      elapsed += took[i];
      left -= took[i];
    }
    EXPECT_EQ(times.remaining(took.size()), Seconds{0});
  }
}

TEST(ExpectedTimes, AFamilyThatIsNotKnownYetGoesAsTheOthersDo) {
  const std::vector<TimedId> rows{{model(1), 100}, {model(2), 100}, {gemm(1), 10}};
  ExpectedTimes times{plan_of(rows), table_of(rows)};
  EXPECT_EQ(times.remaining(0), Seconds{210});
  times.finished(0, {200});
  EXPECT_NEAR(times.remaining(1).value, 2 * 110, 1e-9);
  EXPECT_NEAR(times.remaining(2).value, 2 * 10, 1e-9);
  times.finished(1, {50});
  EXPECT_LT(times.remaining(1), Seconds{200});
}

TEST(StopAfter, StartsNoCaseThatWouldEndLater) {
  const std::vector<TimedId> rows{{model(1), 100}, {model(2), 50}};
  ExpectedTimes times{plan_of(rows), table_of(rows)};
  const auto has_time = [&](double elapsed, double limit) {
    return has_time_for(1, &times, {elapsed}, {limit}, /*is_first=*/false);
  };
  EXPECT_TRUE(has_time(100, 150));
  EXPECT_FALSE(has_time(100, 149));
  EXPECT_TRUE(has_time_for(1, &times, {100}, {1}, /*is_first=*/true));
  times.finished(0, {200});  // twice as slow as the table says
  EXPECT_FALSE(has_time(100, 190));
  EXPECT_TRUE(has_time(100, 200));
  ExpectedTimes fast{plan_of(rows), table_of(rows)};
  fast.finished(0, {1});
  EXPECT_FALSE(has_time_for(1, &fast, {100}, {149}, /*is_first=*/false));  // never less than the table's duration
  EXPECT_TRUE(has_time_for(1, nullptr, {100}, {101}, /*is_first=*/false));
  EXPECT_FALSE(has_time_for(1, nullptr, {101}, {101}, /*is_first=*/false));
}

TEST(StopAfter, TheCommandThatGoesOnIsTheRunsOwn) {
  const std::vector<std::string> words{"./transformer_bench", "--benchmark_filter=impl:(a|b's)$",
                                       "--benchmark_out=a.json"};
  EXPECT_EQ(resume_command(words),
            R"(./transformer_bench '--benchmark_filter=impl:(a|b'\''s)$' --benchmark_out=a.json --tb_resume)");
  EXPECT_EQ(resume_command(std::vector<std::string>{"a", "--tb_resume", ""}), "a --tb_resume ''");
}

}  // namespace
}  // namespace tbench::bench

#include "tbench/compare/durations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/durations.hpp"

namespace tbench::compare {
namespace {

using results::DurationTable;
using results::NamedResults;
using ::testing::AllOf;
using ::testing::HasSubstr;

const CaseId kForward = support::model_id("forward", "sdpa");
const CaseId kStep = support::model_id("train_step", "sdpa");

/// Returns a record of a case that takes `seconds`, most of them for sampling.
Record costing(const CaseId& id, double seconds, Status status = Status::kOk) {
  Record record = has_time(status) ? support::timed_record(id, {0.01}) : support::failed_record(id, status, "why");
  record.status = status;
  record.harness = {seconds / 4};
  if (has_time(status)) {
    record.host_times.emplace().sampling = {seconds * 3 / 4};
  } else {
    record.harness = {seconds};
  }
  return record;
}

std::string csv_of(const std::vector<std::vector<Record>>& files, const std::set<std::string>& only = {}) {
  DurationCollector collector;
  for (const std::vector<Record>& records : files) collector.add(support::gpu_results(records));
  return collector.csv(only);
}

template <class Change>
std::string refusal(Change change) {
  DurationCollector collector;
  NamedResults file = support::gpu_results({costing(kForward, 4)});
  collector.add(file);
  file.label = "b.json";
  change(file.file);
  try {
    collector.add(file);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CollectedDurations, AreATableSortedByName) {
  const std::string csv = csv_of({{costing(kStep, 8), costing(kForward, 4)}, {costing(kForward, 6)}});
  EXPECT_LT(csv.find(kForward.name()), csv.find(kStep.name()));
  EXPECT_THAT(csv, HasSubstr(kForward.name() + ",5.000,ok\n"));
  EXPECT_THAT(csv, HasSubstr("# files: 2\ncase,seconds,status\n"));
  const DurationTable table = DurationTable::parse(csv, "gpu.csv");
  const Environment gpu = support::gpu_environment();
  EXPECT_EQ(table.gpu(), gpu.gpu->name);
  EXPECT_EQ(table.memory_bytes(), gpu.gpu->memory_bytes);
  EXPECT_EQ(*table.find(kStep), (results::CaseDuration{.time = {8}, .status = Status::kOk}));
}

TEST(CollectedDurations, AStatusIsTheBestRunsOrOomIfNoneFitted) {
  const auto row_of = [](const std::vector<Record>& records) {
    return *DurationTable::parse(csv_of({records}), "gpu.csv").find(kForward);
  };
  const auto run = [](double seconds, Status status) { return costing(kForward, seconds, status); };
  const auto row = [](double seconds, Status status) {
    return results::CaseDuration{.time = {seconds}, .status = status};
  };
  EXPECT_EQ(row_of({run(1, Status::kOom), run(3, Status::kOom)}), row(2, Status::kOom));
  EXPECT_EQ(row_of({run(1, Status::kOom), run(8, Status::kOk)}), row(8, Status::kOk));
  EXPECT_EQ(row_of({run(9, Status::kUnstable), run(7, Status::kOk)}), row(8, Status::kOk));
  EXPECT_EQ(row_of({run(1, Status::kOom), run(8, Status::kUnstable)}), row(8, Status::kUnstable));
  EXPECT_EQ(row_of({run(1, Status::kOom), run(2, Status::kUnsupported)}), row(1.5, Status::kUnsupported));
  // A crash does not tell the duration, nor whether the case fits into memory.
  const std::string csv = csv_of({{run(1, Status::kOom), run(1, Status::kCrashed), costing(kStep, 4)}});
  EXPECT_EQ(DurationTable::parse(csv, "gpu.csv").find(kForward), nullptr);
}

TEST(CollectedDurations, AFileWithoutHostTimesHasItsSteps) {
  Record record = support::timed_record(kForward, {0.5});
  record.harness = {2};
  record.timing->samples_s = {0.5, 0.5, 0.5, 0.5};
  record.timing->warm_up.steps = 6;
  EXPECT_DOUBLE_EQ(cost_of(record).value, 2 + 6 * 0.5 + 4 * 0.5);
  record.timing->launches_per_sample = 10;
  record.timing->duty = 0.25;
  EXPECT_DOUBLE_EQ(cost_of(record).value, 2 + 6 * 0.5 + 4 * 0.5 * 10 / 0.25);
}

TEST(CollectedDurations, OnlyTheNamedCases) {
  const std::vector<Record> records{costing(kStep, 8), costing(kForward, 4)};
  EXPECT_EQ(DurationTable::parse(csv_of({records}, {kStep.name()}), "gpu.csv").size(), 1U);
  EXPECT_THROW(static_cast<void>(csv_of({records}, {"Gemm/m:1"})), UsageError);
}

TEST(CollectedDurations, RefusesWhatIsNoTableOfOneGpu) {
  EXPECT_THAT(refusal([](results::ResultFile& file) { file.environment.gpu->name = "NVIDIA A100"; }),
              AllOf(HasSubstr("'a.json' is of an NVIDIA H200 and 'b.json' of an NVIDIA A100"),
                    HasSubstr("Give the files of each apart.")));
  EXPECT_THAT(refusal([](results::ResultFile& file) { file.environment.gpu.reset(); }),
              HasSubstr("'b.json': its cases ran on the CPU. Give results of a GPU."));
  EXPECT_THAT(refusal([](results::ResultFile& file) { file.options["suite"] = "smoke"; }),
              HasSubstr("'b.json': the smoke suite samples for a shorter time."));
  EXPECT_THAT(refusal([](results::ResultFile& file) { file.options["memory_limit"] = "10"; }),
              HasSubstr("'b.json': it was measured with --tb_memory_limit=10."));
  EXPECT_EQ(refusal([](results::ResultFile& file) { file.environment.gpu->memory_bytes /= 2; }), "");
}

TEST(CollectedDurations, AreOfTheBuildThatMeasuredTheCaseLast) {
  DurationCollector collector;
  const auto add = [&](std::vector<Record> records, const std::string& build, const std::string& date) {
    NamedResults file = support::gpu_results(std::move(records));
    file.file.environment.sources_digest = build;
    file.file.environment.date = date;
    collector.add(file);
  };
  add({costing(kForward, 4)}, "new", "2026-11-26T10:00:00Z");
  add({costing(kForward, 90), costing(kStep, 80)}, "old", "2026-11-25T10:00:00Z");
  add({costing(kForward, 6)}, "new", "2026-11-24T10:00:00Z");
  const DurationTable table = DurationTable::parse(collector.csv({}), "gpu.csv");
  EXPECT_EQ(table.find(kForward)->time, Seconds{5});
  EXPECT_EQ(table.find(kStep)->time, Seconds{80});
}

TEST(CollectedDurations, TheSmallestMemoryIsTheTables) {
  DurationCollector collector;
  NamedResults file = support::gpu_results({costing(kForward, 4)});
  collector.add(file);
  file.file.environment.gpu->memory_bytes = 5;
  collector.add(file);
  EXPECT_EQ(DurationTable::parse(collector.csv({}), "gpu.csv").memory_bytes(), 5);
}

}  // namespace
}  // namespace tbench::compare

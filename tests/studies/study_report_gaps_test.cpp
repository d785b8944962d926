// Tests the tables of a study for cases without a time, for other protocols, and for several files.
#include "tbench/studies/study_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "studies/small_study.hpp"
#include "support/sample_results.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StudyReport, OutOfMemoryIsACellAndWhatWasMeasuredIsKept) {
  std::vector<Record> records = all_records();
  records[11] = support::failed_record(id_of("large", "512", "bf16"), Status::kOom, "tried to allocate 1 TiB");
  records[10] = support::failed_record(id_of("large", "512", "fp32"), Status::kIncorrect, "wrong");
  records[9].status = Status::kUnstable;
  records[9].reason = "noisy";
  const auto report = report_of(study_of(spread_over({"precision"}, {kMilliseconds, kSamples})), {results_of(records)});
  EXPECT_THAT(texts(report.sections[0].rows[5]), ElementsAre("large", "512", "incorrect", "", "OOM", "", ""));
  EXPECT_THAT(texts(report.sections[0].rows[4]), ElementsAre("large", "256", "48", "3", "24", "3", "bf16 *"));
  EXPECT_EQ(report.sections[0].columns.back().header, "marks");
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("* unstable or throttled")));
  // A column that has a value for a case without a time shows the value next to the status.
  StudyColumn requested{.header = "GiB",
                        .value = [](const Record& r) -> std::optional<double> {
                          if (!r.requested_bytes) return std::nullopt;
                          return static_cast<double>(*r.requested_bytes);
                        },
                        .format = kMilliseconds.format};
  records[11].requested_bytes = 7;
  const auto kept = report_of(study_of(spread_over({"precision"}, {requested})), {results_of(records)});
  EXPECT_THAT(texts(kept.sections[0].rows[5]), ElementsAre("large", "512", "incorrect", "OOM (7)"));
}

TEST(StudyReport, ABoundaryIsTheLastThatFitsAndTheFirstThatDoesNot) {
  StudyTable table = spread_over({"ctx"});
  table.has_boundary = true;
  std::vector<Record> records = all_records();
  const auto fail = [&](const std::string& size, const std::string& ctx, Status status) {
    for (Record& record : records) {
      if (record.id == id_of(size, ctx, "fp32")) record = support::failed_record(record.id, status, "");
    }
  };
  fail("small", "512", Status::kOom);
  fail("large", "128", Status::kOom);
  fail("large", "256", Status::kOom);
  fail("large", "512", Status::kCrashed);
  records.pop_back();  // large 512 bf16 was not measured
  const auto report = report_of(study_of(table), {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]),
              ElementsAre("size", "precision", "ctx:128", "ctx:256", "ctx:512", "largest ctx", "first OOM"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("small", "fp32", "8", "16", "OOM", "256", "512"));
  EXPECT_THAT(texts(report.sections[0].rows[1]), ElementsAre("small", "bf16", "4", "8", "16", ">= 512", ""));
  EXPECT_THAT(texts(report.sections[0].rows[2]), ElementsAre("large", "fp32", "OOM", "OOM", "crashed", "", "128"));
  EXPECT_THAT(texts(report.sections[0].rows[3]), ElementsAre("large", "bf16", "12", "24", "[1]", ">= 256", ""));
}

TEST(StudyReport, WhatAFilterLeavesOutIsNotMeasuredEither) {
  const auto results = std::vector{results_of({})};
  const auto report =
      report_of(study_of(spread_over({"precision"})), results, {.axes = {}, .filter = "size:small/ctx:128/"});
  EXPECT_THAT(report.commands,
              ElementsAre("./transformer_bench --tb_study=mine --benchmark_filter='/size:small/ctx:128/' "
                          "--benchmark_out=mine_1.json"));
}

TEST(StudyReport, ReplicatesOfAllFilesAreOneCell) {
  std::vector<Record> first = all_records();
  results::NamedResults second = results_of({timed("small", "128", "fp32", 10), timed("small", "128", "fp32", 90)});
  second.label = "b.json";
  const auto report = report_of(study_of(spread_over({"precision"})), {results_of(first), second});
  EXPECT_EQ(report.sections[0].rows[0][2].text, "10");  // the median of 8, 10 and 90
  EXPECT_EQ(report.sources.size(), 2U);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("their median (at most 3)")));
  second.file.records[1] = support::failed_record(id_of("small", "128", "fp32"), Status::kCrashed, "gone");
  EXPECT_EQ(report_of(study_of(spread_over({"precision"})), {results_of(first), second}).sections[0].rows[0][2].text,
            "9 (1 of 3 failed)");
}

TEST(StudyReport, WhatIsMissingSaysHowToMeasureIt) {
  std::vector<Record> records = all_records();
  std::erase_if(records, [](const Record& r) { return r.id.at("size") == "large" && r.id.at("precision") == "fp32"; });
  const auto report = report_of(study_of(spread_over({"precision"})), {results_of(records)});
  EXPECT_THAT(texts(report.sections[0].rows[3]), ElementsAre("large", "128", "[1]", "12"));
  EXPECT_THAT(report.commands,
              ElementsAre("./transformer_bench --tb_study=mine --benchmark_filter='/size:large/.*/precision:fp32$' "
                          "--benchmark_out=mine_1.json"));
  const auto nothing = report_of(study_of(spread_over({"precision"})), {results_of({})});
  EXPECT_THAT(nothing.commands, ElementsAre("./transformer_bench --tb_study=mine --benchmark_out=mine_1.json"));
}

TEST(StudyReport, AProtocolThatWasNotKeptIsMarked) {
  Study study = study_of(spread_over({"precision"}));
  study.protocol = {.warm_up = 50, .samples = 200};
  std::vector<Record> records = all_records();
  records[0].timing->warm_up.steps = 50;
  records[0].timing->samples_s.assign(200, 8e-3);
  const auto report = report_of(study, {results_of(records)});
  EXPECT_EQ(report.sections[0].rows[0][2].text, "8");
  EXPECT_EQ(report.sections[0].rows[0][3].text, "4");
  EXPECT_EQ(report.sections[0].rows[0][4].text, "bf16 +");
  EXPECT_THAT(report.notes, ElementsAre("+ not the study's protocol of 50 warm-up steps, 200 timed steps."));
}

TEST(StudyReport, ARunOfTheStudyBringsItsAxesAndSizes) {
  results::NamedResults run = results_of({timed("mine", "64", "bf16", 5)});
  run.file.options = {{"study", "mine"}, {"axis.Model.ctx", "64"}, {"size.mine", "64,256,2,4"}};
  const auto report = report_of(study_of(spread_over({"precision"})), {run});
  EXPECT_THAT(texts(report.sections[0].rows[2]), ElementsAre("mine", "[2]", "5"));
  EXPECT_THAT(report.sections[0].caption, HasSubstr("ctx:64"));
  EXPECT_THAT(report.commands[1], HasSubstr("--tb_study=mine --tb_axis=Model.ctx=64 --tb_size=mine:64,256,2,4 "));
  // If another run did not set the axis, both runs have their cells.
  results::NamedResults other = results_of(all_records());
  other.file.options = {{"study", "mine"}};
  EXPECT_EQ(report_of(study_of(spread_over({"precision"})), {run, other}).sections[0].rows.size(), 3U * 4);
  // Results without a study, or of another study, do not change it.
  run.file.options["study"] = "other";
  EXPECT_EQ(report_of(study_of(spread_over({"precision"})), {run}).sections[0].rows.size(), 2U * 3);
  run.file.options = {{"study", "mine"}, {"size.mine", "x"}};
  EXPECT_THAT(error_of([&] { report_of(study_of(spread_over({"precision"})), {run}); }), HasSubstr("'a.json'"));
}

TEST(StudyReport, AxesAndAFilterChangeTheTable) {
  const auto results = std::vector{results_of(all_records())};
  const Study study = study_of(spread_over({"precision"}));
  const auto one = report_of(study, results, {.axes = {parse_axis_override("Model.ctx=256")}, .filter = ""});
  EXPECT_EQ(one.sections[0].rows.size(), 2U);
  EXPECT_EQ(report_of(study, results, {.axes = {}, .filter = "size:small"}).sections[0].rows.size(), 3U);
  EXPECT_THAT(error_of([&] { report_of(study, results, {.axes = {}, .filter = "tiny"}); }),
              HasSubstr("no case of the study mine matches 'tiny'"));
  const StudyOptions wrong{.axes = {parse_axis_override("Model.ctxt=1")}, .filter = ""};
  EXPECT_THAT(error_of([&] { report_of(study, results, wrong); }), HasSubstr("did you mean 'Model.ctx'?"));
}

TEST(StudyReport, DevicesAreNotMixed) {
  results::NamedResults other = results_of(all_records());
  other.label = "cpu.json";
  other.file.environment = support::cpu_environment();
  const std::string error = error_of([&] {
    report_of(study_of(spread_over({"precision"})), {results_of(all_records()), other});
  });
  EXPECT_THAT(error, ::testing::AllOf(HasSubstr("'a.json' is of NVIDIA H200"), HasSubstr("'cpu.json'")));
  results::NamedResults limited = results_of(all_records());
  limited.file.options["memory_limit"] = "16";
  EXPECT_THAT(error_of([&] {
                report_of(study_of(spread_over({"precision"})), {results_of(all_records()), limited});
              }),
              HasSubstr("of NVIDIA H200 with 16 GiB;"));
}

}  // namespace
}  // namespace tbench::studies

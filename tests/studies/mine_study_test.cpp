// Tests the study of a kernel author: its verdict on a plug-in, its grids with and without a GPU, and plug-ins as
// columns of the studies of attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/sample_results.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kMilli = 1e-3;

CaseId case_of(const std::string& seq_len, const std::string& pass, const std::string& impl) {
  return {"Attention",
          {{"batch", "8"},
           {"heads", "1"},
           {"d_model", "64"},
           {"seq_len", seq_len},
           {"causal", "1"},
           {"pass", pass},
           {"precision", "bf16"},
           {"impl", impl}}};
}

/// Adds the records of one shape, with a time in ms for each implementation.
void add(std::vector<Record>& records, const std::string& seq_len, const std::string& pass,
         const std::map<std::string, double>& ms) {
  for (const auto& [impl, time] : ms) {
    records.push_back(support::timed_record(case_of(seq_len, pass, impl), Seconds{time * kMilli}));
  }
}

StudyReport report_of(const std::string& study, std::vector<Record> records,
                      const std::vector<std::string>& plugins = {"mine"}) {
  results::NamedResults results = support::gpu_results(std::move(records));
  for (const std::string& name : plugins) results.file.environment.versions["plugin." + name] = "libmine.so sha256:0";
  return study_report(find_study(study, "--study"), std::vector{results}, {});
}

TEST(MineStudy, SaysWhereAPluginIsFastestAndHowFarItIsFromTheBest) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 1.0}, {"flash", 2.0}, {"sdpa_cudnn", 4.0}});   // 2.00 times the best speed
  add(records, "2048", "forward", {{"mine", 4.0}, {"flash", 2.0}, {"sdpa_cudnn", 3.0}});  // 0.50 times
  add(records, "8192", "forward", {{"mine", 8.0}, {"flash", 4.0}, {"sdpa_cudnn", 2.0}});  // 0.25 times
  records.push_back(support::failed_record(case_of("512", "backward", "mine"), Status::kIncorrect, "wrong"));
  add(records, "512", "backward", {{"flash", 1.0}});
  const std::vector<std::string> answers = report_of("mine", std::move(records)).answers;
  EXPECT_THAT(answers,
              ElementsAre("mine is fastest in 1 of 4 measured shapes (24 in the study); geometric mean 0.63 of "
                          "the best (flash 2, sdpa_cudnn 1); no time: incorrect 1"));
}

TEST(MineStudy, CountsOnlyShapesInWhichThePluginWasMeasured) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 1.0}, {"flash", 2.0}});
  add(records, "2048", "forward", {{"flash", 2.0}});
  EXPECT_THAT(report_of("mine", records).answers,
              ElementsAre("mine is fastest in 1 of 1 measured shape (24 in the study); geometric mean 2.00 of the "
                          "best"));
  CaseId elsewhere{"Attention", {{"batch", "1"}, {"pass", "forward"}, {"precision", "bf16"}, {"impl", "mine"}}};
  records.assign({support::timed_record(std::move(elsewhere), Seconds{kMilli})});
  EXPECT_THAT(report_of("mine", std::move(records)).answers, ElementsAre("mine: none of the 24 shapes is measured"));
}

TEST(MineStudy, ItsCommandsNameThePlugin) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 1.0}, {"yours", 2.0}});
  results::NamedResults results = support::gpu_results(std::move(records));
  results.file.environment.versions["plugin.mine"] = "attention.py:mine sha256:0123456789abcdef";
  results.file.environment.versions["plugin.yours"] = "my lib.so sha256:0123456789abcdef";
  results.file.environment.versions["plugin.unused"] = "unused.so sha256:0123456789abcdef";
  const auto commands = study_report(find_study("mine", "--study"), std::vector{results}, {}).commands;
  ASSERT_THAT(commands, Not(IsEmpty()));
  EXPECT_THAT(commands, Each(StartsWith("./transformer_bench --tb_study=mine --tb_plugin=attention.py:mine "
                                        "--tb_plugin='my lib.so' --benchmark_filter=")));
}

TEST(MineStudy, EachPluginHasASentenceAndTheOthersCountAsOthers) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 2.0}, {"yours", 1.0}, {"flash", 4.0}});
  const std::vector<std::string> answers = report_of("mine", std::move(records), {"mine", "yours"}).answers;
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_THAT(answers[0],
              HasSubstr("mine is fastest in 0 of 1 measured shape (24 in the study); geometric mean 0.50 of "
                        "the best (yours 1)"));
  EXPECT_THAT(answers[1],
              HasSubstr("yours is fastest in 1 of 1 measured shape (24 in the study); geometric mean 2.00"));
}

TEST(MineStudy, WithoutAnotherTimeThereIsNoMean) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 2.0}});
  EXPECT_THAT(report_of("mine", std::move(records)).answers,
              ElementsAre("mine is fastest in 1 of 1 measured shape (24 in the study)"));
}

TEST(MineStudy, TheAnswerIsTheFirstLine) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"mine", 2.0}, {"flash", 1.0}});
  const StudyReport report = report_of("mine", std::move(records));
  for (const StudyFormat format : {StudyFormat::kText, StudyFormat::kMarkdown}) {
    EXPECT_TRUE(study_page(report, format).starts_with("mine is fastest in 0 of 1 measured shape (24 in the study); "));
  }
  EXPECT_THAT(study_page(report, StudyFormat::kJson), HasSubstr("\"answers\""));
}

TEST(MineStudy, WithoutAPluginThereIsNoAnswer) {
  std::vector<Record> records;
  add(records, "512", "forward", {{"flash", 1.0}});
  EXPECT_THAT(report_of("mine", std::move(records), {}).answers, IsEmpty());
}

TEST(MineStudy, ACpuHasGridsOfItsOwn) {
  const Study& mine = find_study("mine", "--study");
  EXPECT_EQ(cells_of(for_device(mine, /*has_gpu=*/true).grids, {}).size(), 12U * 2 * 5);
  EXPECT_EQ(cells_of(for_device(mine, /*has_gpu=*/false).grids, {}).size(), 12U * 2 * 2);
  const Study& flash = find_study("flash", "--study");
  EXPECT_EQ(cells_of(for_device(flash, false).grids, {}).size(), cells_of(flash.grids, {}).size());
}

TEST(PluginColumns, APluginOfTheFileIsInTheTable) {
  const CaseId own{"Attention",
                   {{"batch", "1"},
                    {"heads", "1"},
                    {"d_model", "64"},
                    {"seq_len", "512"},
                    {"causal", "1"},
                    {"pass", "forward"},
                    {"precision", "bf16"},
                    {"impl", "mine"}}};
  const StudyReport report = report_of("flash", {support::timed_record(own, Seconds{kMilli})}, {"mine", "absent"});
  std::vector<std::string> headers;
  for (const render::Column& column : report.sections.at(0).columns) headers.push_back(column.header);
  EXPECT_THAT(headers, Contains(HasSubstr("mine")));
  EXPECT_THAT(headers, Not(Contains(HasSubstr("absent"))));
}

TEST(PluginColumns, TheStudiesOfAttentionAreOpenToPlugins) {
  for (const char* const name : {"attention_grid", "flash", "mine", "tf32"}) {
    std::vector<std::string> asked;
    const Study& study = find_study(name, "--study");
    const Study joined = with_plugins(study, [&](const std::string& family) {
      asked.push_back(family);
      return std::vector<std::string>{"mine"};
    });
    EXPECT_THAT(asked, ElementsAre("Attention")) << name;
    for (const FamilyGrid& grid : joined.grids) EXPECT_EQ(grid.axes.back().values.back(), "mine") << name;
  }
}

}  // namespace
}  // namespace tbench::studies

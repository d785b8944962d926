// Tests the form of a study's tables: columns, bases, fits, and texts.
#include "tbench/studies/study_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "studies/small_study.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StudyReport, SpreadsKeysOverColumnsAndNamesWhatIsCommon) {
  const StudyReport report = report_of(study_of(spread_over({"precision"})), {results_of(all_records())});
  EXPECT_EQ(report.title, "mine: A study");
  EXPECT_THAT(report.sources, ElementsAre(::testing::StartsWith("a.json: GPU NVIDIA H200, driver ")));
  ASSERT_EQ(report.sections.size(), 1U);
  const StudySection& section = report.sections[0];
  EXPECT_EQ(section.caption, "Model batch:4. Caption");
  EXPECT_THAT(headers(section), ElementsAre("size", "ctx", "precision:fp32", "precision:bf16"));
  ASSERT_EQ(section.rows.size(), 6U);
  EXPECT_THAT(texts(section.rows[0]), ElementsAre("small", "128", "8", "4"));
  EXPECT_THAT(texts(section.rows[5]), ElementsAre("large", "512", "96", "48"));
  EXPECT_THAT(report.commands, IsEmpty());
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(StudyReport, SeveralQuantitiesNameTheirColumns) {
  const auto narrow = report_of(study_of(spread_over({}, {kMilliseconds, kSamples})), {results_of(all_records())});
  EXPECT_THAT(headers(narrow.sections[0]), ElementsAre("size", "ctx", "precision", "ms", "n"));
  const auto wide = report_of(study_of(spread_over({"ctx"}, {kMilliseconds, kSamples})), {results_of(all_records())});
  EXPECT_THAT(headers(wide.sections[0]), ElementsAre("size", "precision", "ctx:128 ms", "ctx:128 n", "ctx:256 ms",
                                                     "ctx:256 n", "ctx:512 ms", "ctx:512 n"));
}

TEST(StudyReport, AStudySaysWhichTablesAreBars) {
  EXPECT_FALSE(report_of(study_of(spread_over({"precision"})), {results_of(all_records())}).sections[0].has_bars);
  StudyTable table = spread_over({"precision"});
  table.has_bars = true;
  EXPECT_TRUE(report_of(study_of(table), {results_of(all_records())}).sections[0].has_bars);
}

TEST(StudyReport, ASpeedUpIsTheBasesTimeOverTheCases) {
  StudyTable table = spread_over({"precision"});
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  std::vector<Record> records = all_records();
  records.erase(records.begin());  // small 128 fp32: its counterpart has no speed-up
  const auto report = report_of(study_of(table), {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]),
              ElementsAre("size", "ctx", "precision:fp32", "precision:bf16", "precision:bf16 speed-up"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("small", "128", "[1]", "4", ""));
  EXPECT_THAT(texts(report.sections[0].rows[1]), ElementsAre("small", "256", "16", "8", "2.000"));
}

TEST(StudyReport, ATableThatNeedsItsBaseIsNotShownWithoutIt) {
  StudyTable table = spread_over({"precision"});
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp16"}}};
  EXPECT_EQ(report_of(study_of(table), {results_of(all_records())}).sections.size(), 1U);
  table.needs_base = true;
  EXPECT_THAT(report_of(study_of(table), {results_of(all_records())}).sections, IsEmpty());
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  EXPECT_EQ(report_of(study_of(table), {results_of(all_records())}).sections.size(), 1U);
}

TEST(StudyReport, ABaseMayBeACaseWhoseNameLeavesAKeyOut) {
  StudyTable table = spread_over({"precision", "exec"});
  table.speed_up = StudySpeedUp{.base = {{"precision", "bf16"}, {"exec", ""}}};
  Study study = study_of(table);
  study.grids.front().axes = {{"size", {"small"}},
                              {"ctx", {"128"}},
                              {"batch", {"4"}},
                              {"precision", {"fp32", "bf16"}},
                              {"exec", {"stream", "graph"}, "stream"}};
  CaseId graph = id_of("small", "128", "fp32");
  graph = CaseId{graph.family(), [&] {
                   auto parameters = graph.parameters();
                   parameters.emplace_back("exec", "graph");
                   return parameters;
                 }()};
  std::vector<Record> records = all_records();
  records.push_back(support::timed_record(graph, Seconds{2e-3}));
  const auto report = report_of(study, {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]),
              ElementsAre("precision:fp32", "precision:fp32 exec:graph", "precision:bf16", "precision:bf16 exec:graph",
                          "precision:fp32 speed-up", "precision:fp32 exec:graph speed-up",
                          "precision:bf16 exec:graph speed-up"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8", "2", "4", "[1]", "0.500", "2.000", ""));
}

TEST(StudyReport, EveryQuantityIsHeldAgainstItsBase) {
  StudyColumn first = kMilliseconds;
  first.header = "forward pass ms";
  StudyTable table = spread_over({"precision"}, {first, kSamples});
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  const auto ratios = report_of(study_of(table), {results_of(all_records())});
  EXPECT_THAT(
      headers(ratios.sections[0]),
      ElementsAre("size", "ctx", "precision:fp32 forward pass ms", "precision:fp32 n", "precision:bf16 forward pass ms",
                  "precision:bf16 n", "precision:bf16 forward pass speed-up", "precision:bf16 speed-up"));
  table.speed_up->as = StudyComparison::kChange;
  table.columns.pop_back();
  std::vector<Record> records = all_records();
  records[3].timing->median = Seconds{20e-3};  // small 256 bf16, where fp32 takes 16 ms
  records[4] = support::failed_record(id_of("small", "512", "fp32"), Status::kOom, "no room");
  const auto changes = report_of(study_of(table), {results_of(records)});
  EXPECT_THAT(headers(changes.sections[0]),
              ElementsAre("size", "ctx", "precision:fp32", "precision:bf16", "precision:bf16 forward pass change %"));
  EXPECT_THAT(texts(changes.sections[0].rows[0]), ElementsAre("small", "128", "8", "4", "-50.0"));
  EXPECT_THAT(texts(changes.sections[0].rows[1]), ElementsAre("small", "256", "16", "20", "+25.0"));
  EXPECT_THAT(texts(changes.sections[0].rows[2]), ElementsAre("small", "512", "OOM", "16", ""));
}

TEST(StudyReport, AQuantityOfSomeCasesIsAColumnOfThoseAlone) {
  StudyColumn full = kMilliseconds;
  full.header = "full ms";
  full.only_of = {"precision", "fp32"};
  StudyColumn short_ms = kMilliseconds;
  short_ms.header = "short ms";
  short_ms.only_of = {"precision", "bf16"};
  StudyColumn short_n = kSamples;
  short_n.header = "short n";
  short_n.only_of = short_ms.only_of;
  std::vector<Record> records = all_records();
  records[1] = support::failed_record(id_of("small", "128", "bf16"), Status::kOom, "no room");
  records.erase(records.begin() + 3);  // small 256 bf16
  const auto report = report_of(study_of(spread_over({"precision"}, {full, short_ms, short_n})), {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]), ElementsAre("size", "ctx", "full ms", "short ms", "short n"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("small", "128", "8", "OOM", ""));
  EXPECT_THAT(texts(report.sections[0].rows[1]), ElementsAre("small", "256", "16", "[1]", ""));
  EXPECT_THAT(texts(report.sections[0].rows[2]), ElementsAre("small", "512", "32", "16", "3"));
}

TEST(StudyReport, AValueThatNotEveryProgramHasIsShownWhereAFileHoldsIt) {
  Study study = study_of(spread_over({"precision"}));
  study.grids[0].axes[3].values.emplace_back("fp4");
  study.if_known = {{"Model", {"precision", {"fp4"}}}};
  std::vector<Record> records = all_records();
  EXPECT_THAT(headers(report_of(study, {results_of(records)}).sections[0]),
              ElementsAre("size", "ctx", "precision:fp32", "precision:bf16"));
  records.push_back(timed("small", "128", "fp4", 1));
  const auto report = report_of(study, {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]),
              ElementsAre("size", "ctx", "precision:fp32", "precision:bf16", "precision:fp4"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("small", "128", "8", "4", "1"));
  EXPECT_THAT(texts(report.sections[0].rows[1]), ElementsAre("small", "256", "16", "8", "[1]"));
}

TEST(StudyReport, AFitIsTheExponentOverARow) {
  StudyTable table = spread_over({"ctx"});
  table.fit = StudyFit{.of = "ctx", .x = [](const std::string& value, std::span<const ModelSize>) {
                         return static_cast<double>(parse_integer(value).value());
                       }};
  std::vector<Record> records = all_records();
  for (Record& record : records) {
    // For large, time is proportional to ctx^2, starting at 1 ms for 128.
    if (record.id.at("size") != "large") continue;
    const double ratio = static_cast<double>(record.id.int_at("ctx")) / 128;
    record.timing->median = Seconds{1e-3 * ratio * ratio};
  }
  records.pop_back();  // large 512 bf16: two points remain, and no fit
  const auto report = report_of(study_of(table), {results_of(records)});
  EXPECT_THAT(headers(report.sections[0]),
              ElementsAre("size", "precision", "ctx:128", "ctx:256", "ctx:512", "exponent of ctx", "r²"));
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("small", "fp32", "8", "16", "32", "1.000", "1.0000"));
  EXPECT_THAT(texts(report.sections[0].rows[2]), ElementsAre("large", "fp32", "1", "4", "16", "2.000", "1.0000"));
  EXPECT_THAT(texts(report.sections[0].rows[3]), ElementsAre("large", "bf16", "1", "4", "[1]", "", ""));
}

TEST(StudyReport, QuantitiesGoDownAndATableTakesItsOwnCasesAlone) {
  StudyTable table = spread_over({"precision"}, {kMilliseconds, kSamples});
  table.quantities_down = true;
  table.only = {{"size", "large"}, {"ctx", "256"}};
  Study study = study_of(table);
  study.tables.push_back(spread_over({"precision"}));
  study.tables.back().only = {{"size", "none"}};
  std::vector<Record> records = all_records();
  records[9].status = Status::kUnstable;
  records[9].reason = "noisy";
  const auto report = report_of(study, {results_of(records)});
  ASSERT_EQ(report.sections.size(), 1U);  // a table without cases is left out
  const StudySection& section = report.sections[0];
  EXPECT_EQ(section.caption, "Model size:large ctx:256 batch:4. Caption");
  EXPECT_THAT(headers(section), ElementsAre("quantity", "precision:fp32", "precision:bf16", "marks"));
  ASSERT_EQ(section.rows.size(), 2U);
  EXPECT_THAT(texts(section.rows[0]), ElementsAre("ms", "48", "24", "bf16 *"));
  EXPECT_THAT(texts(section.rows[1]), ElementsAre("n", ::testing::_, ::testing::_, ""));
}

TEST(StudyReport, ATextStandsInPlaceOfANumber) {
  StudyColumn dtype{
      .header = "dtype", .value = {}, .format = {}, .text = [](const Record& record) -> std::optional<std::string> {
        const auto found = record.labels.find("relu");
        return found == record.labels.end() ? std::nullopt : std::optional{found->second};
      }};
  std::vector<Record> records = all_records();
  records[0].labels["relu"] = "fp16";
  results::NamedResults second = results_of({timed("small", "128", "fp32", 9)});
  second.file.records[0].labels["relu"] = "bf16";
  const auto report = report_of(study_of(spread_over({"precision"}, {dtype})), {results_of(records), second});
  EXPECT_EQ(report.sections[0].rows[0][2].text, "fp16 / bf16");  // two records that differ: both are shown
  EXPECT_EQ(report.sections[0].rows[0][3].text, "");
}

}  // namespace
}  // namespace tbench::studies

// Tables of a small study of two sizes, three contexts and two precisions, filled from records made here.
#include "tbench/studies/study_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CaseId id_of(const std::string& size, const std::string& ctx, const std::string& precision) {
  return {"Model", {{"size", size}, {"ctx", ctx}, {"batch", "4"}, {"precision", precision}}};
}

const StudyColumn kMilliseconds{.header = "ms",
                                .value = [](const Record& record) -> std::optional<double> {
                                  if (!record.timing) return std::nullopt;
                                  return to_milliseconds(record.timing->median);
                                },
                                .format = [](double value) { return std::to_string(static_cast<int>(value)); }};
const StudyColumn kSamples{.header = "n",
                           .value = [](const Record& record) -> std::optional<double> {
                             if (!record.timing) return std::nullopt;
                             return static_cast<double>(record.timing->samples_s.size());
                           },
                           .format = [](double value) { return std::to_string(static_cast<int>(value)); }};

Study study_of(StudyTable table) {
  return {.name = "mine",
          .title = "A study",
          .grids = {{"Model",
                     {{"size", {"small", "large"}},
                      {"ctx", {"128", "256", "512"}},
                      {"batch", {"4"}},
                      {"precision", {"fp32", "bf16"}}}}},
          .protocol = {},
          .tables = {std::move(table)}};
}

StudyTable spread_over(std::vector<std::string> keys, std::vector<StudyColumn> columns = {kMilliseconds}) {
  return {.caption = "Caption", .spread = std::move(keys), .columns = std::move(columns), .speed_up = {}, .fit = {}};
}

results::NamedResults results_of(std::vector<Record> records) {
  return {"a.json",
          {.environment = support::gpu_environment(),
           .host = {},
           .options = {},
           .interrupted = false,
           .records = std::move(records)}};
}

Record timed(const std::string& size, const std::string& ctx, const std::string& precision, double ms) {
  return support::timed_record(id_of(size, ctx, precision), Seconds{ms * 1e-3});
}

/// Time 8 ms at 128 tokens, twice that at twice as many; bf16 takes half as long; large 3 times as long.
std::vector<Record> all_records() {
  std::vector<Record> records;
  for (const auto& [size, factor] : {std::pair{"small", 1.0}, std::pair{"large", 3.0}}) {
    for (const auto& [ctx, ms] : {std::pair{"128", 8.0}, std::pair{"256", 16.0}, std::pair{"512", 32.0}}) {
      records.push_back(timed(size, ctx, "fp32", ms * factor));
      records.push_back(timed(size, ctx, "bf16", ms * factor / 2));
    }
  }
  return records;
}

std::vector<std::string> texts(const std::vector<StudyCell>& row) {
  std::vector<std::string> all;
  for (const StudyCell& cell : row) {
    all.push_back(cell.text + (cell.footnote > 0 ? "[" + std::to_string(cell.footnote) + "]" : ""));
  }
  return all;
}

std::vector<std::string> headers(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return all;
}

StudyReport report_of(const Study& study, const std::vector<results::NamedResults>& results,
                      const StudyOptions& options = {}) {
  return study_report(study, results, options);
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

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
  records.erase(records.begin());  // small 128 fp32: its partner has no speed-up
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
    // large: time ~ ctx^2, from 1 ms at 128
    if (record.id.at("size") != "large") continue;
    const double ratio = static_cast<double>(record.id.int_at("ctx")) / 128;
    record.timing->median = Seconds{1e-3 * ratio * ratio};
  }
  records.pop_back();  // large 512 bf16: two points are left, and no fit
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
  EXPECT_THAT(headers(section), ElementsAre("quantity", "precision:fp32", "precision:bf16"));
  ASSERT_EQ(section.rows.size(), 2U);
  EXPECT_THAT(texts(section.rows[0]), ElementsAre("ms", "48", "24*"));
  EXPECT_THAT(texts(section.rows[1]), ElementsAre("n", ::testing::_, ::testing::_));
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
  EXPECT_EQ(report.sections[0].rows[0][2].text, "fp16 / bf16");  // two records that differ: both
  EXPECT_EQ(report.sections[0].rows[0][3].text, "");
}

TEST(StudyReport, OutOfMemoryIsACellAndWhatWasMeasuredIsKept) {
  std::vector<Record> records = all_records();
  records[11] = support::failed_record(id_of("large", "512", "bf16"), Status::kOom, "tried to allocate 1 TiB");
  records[10] = support::failed_record(id_of("large", "512", "fp32"), Status::kIncorrect, "wrong");
  records[9].status = Status::kUnstable;
  records[9].reason = "noisy";
  const auto report = report_of(study_of(spread_over({"precision"}, {kMilliseconds, kSamples})), {results_of(records)});
  EXPECT_THAT(texts(report.sections[0].rows[5]), ElementsAre("large", "512", "incorrect", "", "OOM", ""));
  EXPECT_EQ(report.sections[0].rows[4][4].text, "24*");
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("* unstable or throttled")));
  // A column that tells something of a case without a time shows it beside the status.
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
  records.pop_back();  // large 512 bf16: nobody knows
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
              ElementsAre("transformer_bench --tb_study=mine --benchmark_filter='/size:small/ctx:128/' "
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
              ElementsAre("transformer_bench --tb_study=mine --benchmark_filter='/size:large/.*/precision:fp32$' "
                          "--benchmark_out=mine_1.json"));
  const auto nothing = report_of(study_of(spread_over({"precision"})), {results_of({})});
  EXPECT_THAT(nothing.commands, ElementsAre("transformer_bench --tb_study=mine --benchmark_out=mine_1.json"));
}

TEST(StudyReport, AProtocolThatWasNotKeptIsMarked) {
  Study study = study_of(spread_over({"precision"}));
  study.protocol = {.warm_up = 50, .samples = 200};
  std::vector<Record> records = all_records();
  records[0].timing->warm_up.steps = 50;
  records[0].timing->samples_s.assign(200, 8e-3);
  const auto report = report_of(study, {results_of(records)});
  EXPECT_EQ(report.sections[0].rows[0][2].text, "8");
  EXPECT_EQ(report.sections[0].rows[0][3].text, "4+");
  EXPECT_THAT(report.notes, ElementsAre("+ not the study's protocol of 50 warm-up steps, 200 timed steps."));
}

TEST(StudyReport, ARunOfTheStudyBringsItsAxesAndSizes) {
  results::NamedResults run = results_of({timed("mine", "64", "bf16", 5)});
  run.file.options = {{"study", "mine"}, {"axis.Model.ctx", "64"}, {"size.mine", "64,256,2,4"}};
  const auto report = report_of(study_of(spread_over({"precision"})), {run});
  EXPECT_THAT(texts(report.sections[0].rows[2]), ElementsAre("mine", "[2]", "5"));
  EXPECT_THAT(report.sections[0].caption, HasSubstr("ctx:64"));
  EXPECT_THAT(report.commands[1], HasSubstr("--tb_study=mine --tb_axis=Model.ctx=64 --tb_size=mine:64,256,2,4 "));
  // Together with a run that left the axis alone: both have their cells.
  results::NamedResults other = results_of(all_records());
  other.file.options = {{"study", "mine"}};
  EXPECT_EQ(report_of(study_of(spread_over({"precision"})), {run, other}).sections[0].rows.size(), 3U * 4);
  // Results of no study, or of another, do not change it.
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

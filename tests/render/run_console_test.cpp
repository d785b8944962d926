#include "tbench/render/run_console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::render {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<CaseId> kCases{
    CaseId::parse("Model/size:small/ctx:512/pass:forward"), CaseId::parse("Model/size:xl/ctx:512/pass:forward"),
    CaseId::parse("Model/size:xl/ctx:512/pass:train_step"), CaseId::parse("Kernel/op:add/l2:warm")};

TEST(ShortNames, LeaveOutWhatAllCasesOfAFamilyShare) {
  const ShortNames names{kCases};
  EXPECT_EQ(names(kCases[0]), "Model small forward");
  EXPECT_EQ(names(kCases[2]), "Model xl train_step");
  EXPECT_EQ(names(kCases[3]), "Kernel add warm");  // a single case has no common parts to leave out
  EXPECT_THAT(names.legend(), ElementsAre("Model size pass; all ctx:512", "Kernel op l2"));
  EXPECT_EQ(names.width(), std::string{"Model xl train_step"}.size());
}

TEST(ShortNames, OfCasesWithOtherKeysHaveThoseToo) {
  const std::vector<CaseId> cases{CaseId::parse("Kernel/op:add/us:3"), CaseId::parse("Kernel/op:add/us:3/l2:warm")};
  const ShortNames names{cases};
  EXPECT_EQ(names(cases[0]), "Kernel");
  EXPECT_EQ(names(cases[1]), "Kernel warm");
  EXPECT_THAT(names.legend(), ElementsAre("Kernel l2; all op:add us:3"));
}

TEST(ShortNames, HaveKeysOfNumbersWhereThereIsNoLegend) {
  const std::vector<CaseId> cases{CaseId::parse("Attention/seq_len:64/impl:flash"),
                                  CaseId::parse("Attention/seq_len:128/impl:naive")};
  EXPECT_EQ(ShortNames(cases, ShortNames::Numbers::kWithKeys)(cases[1]), "Attention seq_len 128 naive");
  EXPECT_EQ(ShortNames{cases}(cases[1]), "Attention 128 naive");
}

TEST(ShortNames, OfAnotherFamilyAreWhole) {
  EXPECT_EQ(ShortNames{kCases}(CaseId::parse("Gemm/m:1")), "Gemm/m:1");
  EXPECT_THAT(ShortNames{{}}.legend(), IsEmpty());
}

Record sharp() {
  Record record = support::burst_record(support::model_id("forward", "flash"), Seconds{25e-6});
  record.work->bytes = 85'000'000;  // at 4.25e12 bytes per second: 80 %
  record.timing->warm_up.steady = true;
  return record;
}

TEST(Findings, SayWhatIsNotToBeTrustedAndWhatIsBest) {
  Record further = sharp();
  further.id = support::model_id("forward", "eager");
  further.timing->median = Seconds{50e-6};
  const std::vector<Record> records{sharp(), further, support::full_record(),
                                    support::burst_record(support::model_id("forward", "sdpa"), Seconds{5e-6})};
  EXPECT_THAT(findings_of(records, {.path = "a.json"}),
              ElementsAre(HasSubstr("1 case is limited by the host"), HasSubstr("1 case is not sharp"),
                          AllOf(HasSubstr("nearest to its ceiling: "), HasSubstr("impl:flash, 80 % of copy")),
                          "next: ./tbench report a.json -o report.html"));
}

TEST(Findings, WhatIsAboveItsCeilingIsWrongAndNotNearest) {
  Record wrong = sharp();
  wrong.timing->median = wrong.timing->median * 0.7;  // 80 % / 0.7 = 114 %
  const std::vector<Finding> findings = findings_of(std::vector<Record>{wrong, sharp()});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].is_warning);
  EXPECT_EQ(findings[0].text, "1 case is above the ceiling: the formula or the timing is wrong");
  EXPECT_FALSE(findings[1].is_warning);
  EXPECT_THAT(findings[1].text, HasSubstr("80 % of copy"));
}

TEST(Findings, OfAFailureNameTheCommandThatRunsItAlone) {
  const std::vector<Record> records{sharp(),
                                    support::failed_record(CaseId::parse("Gemm/m:1"), Status::kIncorrect, "wrong")};
  EXPECT_EQ(findings_of(records, {.path = "a.json"}).back(),
            "next: the failed case alone: --benchmark_filter='^Gemm/m:1$' --tb_isolate=case");
  const std::vector<Record> oom{support::failed_record(CaseId::parse("Gemm/m:1"), Status::kOom, "8 GiB")};
  EXPECT_THAT(findings_of(oom, {}), ElementsAre("next: --benchmark_out=a.json keeps the results"));
  EXPECT_THAT(findings_of({}, {.path = "a.json"}), IsEmpty());
}

TEST(Findings, ShowTheTablesOfTheStudyNext) {
  const std::vector<Record> records{sharp()};
  EXPECT_EQ(findings_of(records, {.path = "a b.json", .study = "mine"}).back(),
            "next: ./tbench report --study mine 'a b.json' -o report.html");
  EXPECT_EQ(findings_of(records, {.path = "a.json", .study = "mine", .has_page = true}).back(),
            "next: ./tbench report --study mine a.json");
  EXPECT_EQ(findings_of(records, {.path = "a.json", .has_page = true}).back(), "next: ./tbench report a.json");
}

/// Returns the rows of a run on a terminal with `width` columns.
std::vector<std::string> rows_in(std::size_t width, const std::vector<Record>& records) {
  std::vector<CaseId> cases;
  for (const Record& record : records) cases.push_back(record.id);
  const ShortNames names{cases};
  const std::string text = support::printed([&](std::FILE* out) {
    ConsoleTable table{out, {.name_width = names.width(), .colour = false, .width = width, .name = names}};
    for (const Record& record : records) table.row(record);
    table.summary({1}, std::nullopt);
  });
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(ConsoleOnATerminal, FitsIntoIt) {
  const std::string long_reason(300, 'x');
  const std::vector<Record> records{
      support::full_record(), support::golden_file().records[3],
      support::failed_record(CaseId{"Model", {{"impl", std::string(80, 'y')}}}, Status::kOom, long_reason)};
  for (const std::size_t width : {80U, 100U, 120U, 200U}) {
    const std::vector<std::string> lines = rows_in(width, records);
    for (const std::string& line : lines) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(ConsoleOnATerminal, GoesWithoutColumnsBeforeItCutsNames) {
  const std::vector<std::string> wide = rows_in(160, {support::full_record()});
  EXPECT_THAT(wide.at(0), AllOf(HasSubstr("TFLOP/s"), HasSubstr("tokens/s")));
  const std::vector<std::string> narrow = rows_in(80, {support::full_record()});
  EXPECT_THAT(narrow.at(0), AllOf(HasSubstr("median ms"), HasSubstr("peak GiB"), Not(HasSubstr("TFLOP/s"))));
  EXPECT_THAT(narrow.at(2), HasSubstr("Model small 512 4 train_step bf16 sdpa  ok "));
  EXPECT_THAT(rows_in(40, {support::full_record()}).at(2), testing::StartsWith("Model small 512…  ok "));
}

TEST(ConsoleOnATerminal, HasMarksWhereANoteHasNoRoom) {
  const std::vector<std::string> lines = rows_in(100, {support::full_record()});
  EXPECT_TRUE(lines.at(2).ends_with("  9  h")) << lines.at(2);
  EXPECT_EQ(lines.at(4), "h limited by the host");
  EXPECT_TRUE(rows_in(160, {support::full_record()}).at(2).ends_with("  9  limited by the host"));
}

}  // namespace
}  // namespace tbench::render

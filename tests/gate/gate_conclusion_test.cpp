// What follows from each kind of report; the situations of tests/tools/situations/ run the rest through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tbench/gate/gate_output.hpp"

namespace tbench::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const GateInput kInput{.db = "h.db",
                       .files = {"a.json", "b c.json"},
                       .null_a = {},
                       .null_b = {},
                       .run = {.of_all = "--tb_suite=full", .filter = {}}};

CaseReport case_with(Verdict verdict, const std::string& name = "Model/size:small") {
  CaseReport c;
  c.name = name;
  c.verdict = verdict;
  c.candidate = Seconds{0.01};
  c.ratio = 1.05;
  return c;
}

GateReport report_with(std::vector<CaseReport> cases) {
  GateReport report;
  report.runs = 20;
  report.cases = std::move(cases);
  return report;
}

results::Conclusion conclusion_of(Verdict verdict) {
  return gate_conclusion(report_with({case_with(verdict), case_with(Verdict::kPassed, "Model/size:fine")}), kInput);
}

TEST(GateConclusion, NamesTheBuildThatConfirms) {
  EXPECT_EQ(conclusion_of(Verdict::kUnconfirmed).next,
            "tbench gate --db=h.db a.json 'b c.json' --again '--good=GOOD/transformer_bench --tb_suite=full' "
            "'--new=NEW/transformer_bench --tb_suite=full'");
  EXPECT_EQ(conclusion_of(Verdict::kCreep).next,
            "tbench gate --db=h.db a.json 'b c.json' --again '--pinned=PINNED/transformer_bench --tb_suite=full' "
            "'--new=NEW/transformer_bench --tb_suite=full'");
}

TEST(GateConclusion, OfAHostAndOfAClockIsUncertain) {
  EXPECT_EQ(conclusion_of(Verdict::kHost).verdict, "UNCERTAIN");
  EXPECT_EQ(conclusion_of(Verdict::kHost).next, "tbench report --limits a.json '--filter=^Model/size:small$'");
  EXPECT_EQ(conclusion_of(Verdict::kClock).next, "tbench history --db=h.db '^Model/size:small$'");
}

TEST(GateConclusion, OfAnInvalidCaseAsksForItAloneUnlessTheHostIsTheCause) {
  EXPECT_EQ(conclusion_of(Verdict::kInvalid).next,
            "transformer_bench --tb_suite=full --benchmark_filter='^Model/size:small$' --tb_isolate=case");
  GateReport report = report_with({case_with(Verdict::kInvalid)});
  report.host_is_valid = false;
  report.ceilings = {{"Ceiling/what:dispatch", Resource::kHost, 1.3, 0.1, false}};
  const results::Conclusion conclusion = gate_conclusion(report, kInput);
  EXPECT_EQ(conclusion.next, "transformer_bench --tb_suite=full --benchmark_filter='^Ceiling/what:dispatch$'");
  EXPECT_THAT(conclusion.why, Contains(HasSubstr("what:dispatch: +30.00 %")));
}

TEST(GateConclusion, WhatIsNotUncertainAsksForNothing) {
  for (const Verdict verdict : {Verdict::kRetried, Verdict::kImproved, Verdict::kNew, Verdict::kPassed}) {
    EXPECT_EQ(conclusion_of(verdict).verdict, "PASSED") << to_string(verdict);
    EXPECT_EQ(conclusion_of(verdict).next, "") << to_string(verdict);
  }
  EXPECT_EQ(gate_conclusion(report_with({case_with(Verdict::kNew)}), kInput).verdict, "NEW");
  EXPECT_THAT(gate_conclusion(report_with({}), kInput).why, ElementsAre("the run has no cases but ceilings"));
}

TEST(GateConclusion, ARegressionOutranksAMachineThatChanged) {
  GateReport report = report_with({case_with(Verdict::kNew)});
  report.machine_change =
      MachineChange{.ceilings = {{"Ceiling/what:copy", Resource::kDevice, 1.05, 0.01, false}}, .runs = 3};
  EXPECT_EQ(gate_conclusion(report, kInput).verdict, "MACHINE_CHANGED");
  EXPECT_EQ(gate_conclusion(report, kInput).next, "");
  EXPECT_THAT(gate_conclusion(report, kInput).why, Contains(HasSubstr("as 3 runs agree")));
  report.cases.front().verdict = Verdict::kRegressed;
  EXPECT_EQ(gate_conclusion(report, kInput).verdict, "REGRESSED");
}

TEST(GateConclusion, AgreesWithTheExitStatus) {
  for (const Verdict verdict : kAllVerdicts) {
    for (const std::int64_t blind : {0, 4}) {
      for (const bool has_failed : {false, true}) {
        GateReport report = report_with({case_with(verdict)});
        report.blind_runs = blind;
        report.null_control = NullControl{.cases = 10, .rejected = {"a (+1.00 %)"}, .has_failed = has_failed};
        const std::string word = gate_conclusion(report, kInput).verdict;
        const int status = exit_status(report, true);
        EXPECT_EQ(word == "BLIND", status == kExitBlind) << word;
        EXPECT_EQ(word == "NULL_CONTROL_FAILED", status == kExitNullControlFailed) << word;
        EXPECT_EQ(word == "REGRESSED", status == 1) << word;
        EXPECT_EQ(word == "UNCERTAIN", status == 4) << word;
      }
    }
  }
}

TEST(GateConclusion, TellsThreeCasesOfAVerdictAndCountsTheOthers) {
  std::vector<CaseReport> cases(5, case_with(Verdict::kImproved));
  EXPECT_THAT(gate_conclusion(report_with(std::move(cases)), kInput).why,
              ElementsAre(HasSubstr("IMPROVED Model"), HasSubstr("IMPROVED Model"), HasSubstr("IMPROVED Model"),
                          "2 more IMPROVED"));
}

}  // namespace
}  // namespace tbench::gate

// Tests the conclusion that each kind of report gives. The situations of tests/tools/situations/ test the others
// through the program.
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

CaseReport case_with(Outcome outcome, const std::string& name = "Model/size:small") {
  CaseReport c;
  c.name = name;
  c.outcome = outcome;
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

results::Conclusion conclusion_of(Outcome outcome) {
  return gate_conclusion(report_with({case_with(outcome), case_with(Outcome::kSame, "Model/size:fine")}), kInput);
}

TEST(GateConclusion, NamesTheBuildThatConfirms) {
  EXPECT_EQ(conclusion_of(Outcome::kUnconfirmed).next,
            "tbench gate --db=h.db a.json 'b c.json' --again '--good=GOOD/transformer_bench --tb_suite=full' "
            "'--new=NEW/transformer_bench --tb_suite=full'");
  EXPECT_EQ(conclusion_of(Outcome::kCreep).next,
            "tbench gate --db=h.db a.json 'b c.json' --again '--pinned=PINNED/transformer_bench --tb_suite=full' "
            "'--new=NEW/transformer_bench --tb_suite=full'");
}

TEST(GateConclusion, OfAnUndecidedCaseShowsItsSeries) {
  EXPECT_EQ(conclusion_of(Outcome::kUndecided).outcome, "REVIEW");
  EXPECT_EQ(conclusion_of(Outcome::kUndecided).next, "tbench history --db=h.db '^Model/size:small$'");
  const CaseReport planted = case_with(Outcome::kUndecided);
  EXPECT_EQ(heartbeat_conclusion(report_with({planted}), planted, "0.05", kInput).outcome, kUnknown);
}

TEST(GateConclusion, CountsAreGrammatical) {
  GateReport report = report_with({case_with(Outcome::kNew), case_with(Outcome::kSame, "Model/size:fine")});
  report.runs = 1;
  EXPECT_THAT(gate_conclusion(report, kInput).why,
              ElementsAre("1 SAME as in 1 earlier run",
                          "1 NEW: 1 earlier valid run of this machine and its libraries, too few to judge by"));
}

TEST(GateConclusion, OfAHostAndOfAClockAsksForAReview) {
  EXPECT_EQ(conclusion_of(Outcome::kHost).outcome, "REVIEW");
  EXPECT_EQ(conclusion_of(Outcome::kHost).next, "tbench report --limits a.json '--filter=^Model/size:small$'");
  EXPECT_EQ(conclusion_of(Outcome::kClock).next, "tbench history --db=h.db '^Model/size:small$'");
}

TEST(GateConclusion, OfAnInvalidCaseAsksForItAloneUnlessTheHostIsTheCause) {
  EXPECT_EQ(conclusion_of(Outcome::kNotJudged).next,
            "transformer_bench --tb_suite=full --benchmark_filter='^Model/size:small$' --tb_isolate=case");
  GateReport report = report_with({case_with(Outcome::kNotJudged)});
  report.host_is_valid = false;
  report.ceilings = {{"Ceiling/what:dispatch", Resource::kHost, 1.3, 0.1, false}};
  const results::Conclusion conclusion = gate_conclusion(report, kInput);
  EXPECT_EQ(conclusion.next, "transformer_bench --tb_suite=full --benchmark_filter='^Ceiling/what:dispatch$'");
  EXPECT_THAT(conclusion.why, Contains(HasSubstr("what:dispatch: +30.00 %")));
}

TEST(GateConclusion, WhatIsNotUncertainAsksForNothing) {
  for (const Outcome outcome : {Outcome::kRetried, Outcome::kImproved, Outcome::kNew, Outcome::kSame}) {
    EXPECT_EQ(conclusion_of(outcome).outcome, "PASSED") << to_string(outcome);
    EXPECT_EQ(conclusion_of(outcome).next, "") << to_string(outcome);
  }
  EXPECT_EQ(gate_conclusion(report_with({case_with(Outcome::kNew)}), kInput).outcome, "PASSED");
  EXPECT_THAT(gate_conclusion(report_with({}), kInput).why, ElementsAre("the run has no cases but ceilings"));
}

TEST(GateConclusion, ARegressionOutranksAMachineThatChanged) {
  GateReport report = report_with({case_with(Outcome::kNew)});
  report.machine_change =
      MachineChange{.ceilings = {{"Ceiling/what:copy", Resource::kDevice, 1.05, 0.01, false}}, .runs = 3};
  EXPECT_EQ(gate_conclusion(report, kInput).outcome, "REVIEW");
  EXPECT_EQ(gate_conclusion(report, kInput).next, "");
  EXPECT_THAT(gate_conclusion(report, kInput).why, Contains(HasSubstr("as 3 runs agree")));
  report.cases.front().outcome = Outcome::kRegressed;
  EXPECT_EQ(gate_conclusion(report, kInput).outcome, "FAILED");
}

TEST(GateConclusion, AgreesWithTheExitStatus) {
  for (const Outcome outcome : kAllOf<Outcome>) {
    for (const std::int64_t blind : {0, 4}) {
      for (const bool has_failed : {false, true}) {
        GateReport report = report_with({case_with(outcome)});
        report.blind_runs = blind;
        report.null_control = AaControl{.cases = 10, .rejected = {"a (+1.00 %)"}, .has_failed = has_failed};
        const std::string word = gate_conclusion(report, kInput).outcome;
        const int status = exit_status(report, true);
        EXPECT_EQ(word == "PASSED", status == kExitOk) << word;
        EXPECT_EQ(word == "REVIEW", status == kExitUncertain) << word;
        EXPECT_EQ(exit_status(report, false), status == kExitUncertain ? kExitOk : status) << word;
        EXPECT_EQ(word == "FAILED", exit_status(report, false) != kExitOk) << word;
        if (outcome > Outcome::kBlind && blind > 0) {
          EXPECT_EQ(status, kExitBlind) << word;
        }
      }
    }
  }
}

TEST(GateConclusion, TellsThreeCasesOfAVerdictAndCountsTheOthers) {
  std::vector<CaseReport> cases(5, case_with(Outcome::kImproved));
  EXPECT_THAT(gate_conclusion(report_with(std::move(cases)), kInput).why,
              ElementsAre(HasSubstr("IMPROVED Model"), HasSubstr("IMPROVED Model"), HasSubstr("IMPROVED Model"),
                          "2 more IMPROVED"));
}

}  // namespace
}  // namespace tbench::gate

#include "tbench/gate/gate_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace tbench::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CaseReport regressed_case() {
  CaseReport c;
  c.name = "Model/size:small";
  c.family = "Model";
  c.key = c.name;
  c.outcome = Outcome::kRegressed;
  c.found_by = "history";
  c.runs = 20;
  c.reference = Seconds{0.025};
  c.candidate = Seconds{0.0262};
  c.ratio = 1.048;
  c.z = 12.5;
  c.threshold = 0.02;
  c.peak_bytes = 1'000'000;
  c.confirmed_ratio = 1.047;
  c.confirmed_low = 1.042;
  c.confirmed_high = 1.051;
  c.adjusted_p = 0.0001;
  c.blocks = 6;
  c.last_good = RunMark{"2026-01-01T03:00:00Z", "aaaaaaaaaaaaaaaaaaaa"};
  c.first_bad = RunMark{"2026-01-02T03:00:00Z", "bbbbbbbbbbbbbbbbbbbb"};
  c.since = {"commit: aaaaaaaaaaaa against bbbbbbbbbbbb", "compiler: GNU 12 against GNU 13"};
  c.note = "memory +1.0 MiB";
  return c;
}

GateReport full_report() {
  GateReport report;
  report.started = "2026-01-03T03:00:00Z";
  report.commit = "cccccccccccccccccccc";
  report.fingerprint = "NVIDIA H200, 132 SMs";
  report.epoch = "driver 580.1, schema 1";
  report.processes = 5;
  report.runs = 20;
  report.ceilings = {{"Ceiling/what:copy", Resource::kDevice, 1.002, 0.01, true}};
  report.null_control = AaControl{.cases = 10, .rejected = {"Model/size:x (+0.50 %)"}, .has_failed = false};
  report.epoch_shift = EpochShift{
      .from = "driver 1", .to = "driver 2", .cases = 3, .mean_ratio = 1.01, .beyond = {{"Model/size:y", 1.1}}};
  report.missing = {"Model/size:gone"};
  report.stale = {"Model/size:old (last on 2025-12-30T03:00:00Z)"};
  report.warnings = {"careful"};
  report.cases = {regressed_case(), {}};
  report.cases[1].name = "Model/size:fine";
  return report;
}

TEST(GatePage, TellsWhatRegressedByHowMuchSinceWhen) {
  const std::string page = report_page(full_report(), {});
  EXPECT_THAT(
      page, AllOf(HasSubstr("REGRESSED  Model/size:small"), HasSubstr("25.00"), HasSubstr("26.20"), HasSubstr("+4.80"),
                  HasSubstr("12.5"), HasSubstr("+4.70 (+4.20 .. +5.10)"), HasSubstr("2026-01-02 (bbbbbbbbbbbb)")));
  EXPECT_THAT(page, HasSubstr("good on 2026-01-01 (aaaaaaaaaaaa), bad from 2026-01-02 (bbbbbbbbbbbb); commit:"));
  EXPECT_THAT(page, AllOf(HasSubstr("compiler: GNU 12 against GNU 13"),
                          HasSubstr("Null control: differs at the 1 % level"), HasSubstr("now: driver 2"),
                          HasSubstr("Model/size:y +10.00 %"), HasSubstr("Model/size:old"), HasSubstr("careful")));
  EXPECT_THAT(page, Not(HasSubstr("Model/size:fine")));
  EXPECT_TRUE(page.ends_with("\nFAILED: 1 REGRESSED, 1 SAME. Not kept.\n")) << page;
}

TEST(GatePage, AHostThatTookLongerIsListedWithBothChanges) {
  GateReport report = full_report();
  EXPECT_THAT(report_page(report, {}), Not(HasSubstr("device %"))) << "nothing was traced";
  CaseReport& host = report.cases[1];
  host.outcome = Outcome::kHost;
  host.reference = Seconds{0.01};
  host.candidate = Seconds{0.012};
  host.ratio = 1.2;
  host.device_ratio = 1.001;
  EXPECT_THAT(report_page(report, {}), AllOf(HasSubstr("HOST       Model/size:fine"), HasSubstr("change %  device %"),
                                             HasSubstr("+20.00     +0.10"), HasSubstr("1 REGRESSED, 1 HOST")));
  EXPECT_EQ(case_line(host), "+20.00 % (10.00 -> 12.00 ms), the GPU's time +0.10 %");
  EXPECT_EQ(report_from_json(report_to_json(report)), report);
}

TEST(GatePage, AMachineThatIsOffExplainsItself) {
  GateReport report = full_report();
  report.is_valid = false;
  report.cases[0].outcome = Outcome::kNotJudged;
  report.blind_runs = 2;
  report.ceilings = {{"Ceiling/what:copy", Resource::kDevice, 1.08, 0.01, false}};
  const std::string page = report_page(report, {});
  EXPECT_THAT(page, AllOf(HasSubstr("ENVIRONMENT: the GPU differs from earlier runs"),
                          HasSubstr("Ceiling/what:copy: +8.00 % against the median of the last runs, 1.0 % allowed")));
  EXPECT_THAT(page, HasSubstr("\nNothing is gated:\n  nothing could be gated in 2 runs in a row; after more than 3, "));
  EXPECT_THAT(page, Not(HasSubstr("The gate is blind")));
  report.blind_runs = 4;
  const std::string blind = report_page(report, {});
  EXPECT_THAT(blind, HasSubstr("\nThe gate is blind:\n  nothing could be gated in 4 runs in a row\n"));
  EXPECT_GT(blind.find("The gate is blind"), blind.find("Ceiling/what:copy")) << "the evidence comes first";
  EXPECT_THAT(page, Not(HasSubstr("found by")));
}

TEST(GatePage, AHostThatIsOffAndAMachineThatChangedAreSaid) {
  GateReport report = full_report();
  report.host_is_valid = false;
  report.ceilings.push_back({"Ceiling/what:dispatch", Resource::kHost, 1.3, 0.1, false});
  EXPECT_THAT(report_page(report, {}), AllOf(HasSubstr("The host differs from earlier runs"),
                                             HasSubstr("what:dispatch: +30.00 %"), Not(HasSubstr("ENVIRONMENT"))));
  report.machine_change =
      MachineChange{.ceilings = {{"Ceiling/what:copy", Resource::kDevice, 1.05, 0.01, false}}, .runs = 3};
  EXPECT_THAT(report_page(report, {}), AllOf(HasSubstr("MACHINE_CHANGED"), HasSubstr("by 3 runs that agree"),
                                             HasSubstr("What that did to the cases")));
  report.machine_change->was_accepted = true;
  EXPECT_THAT(report_page(report, {}), HasSubstr("accepted by --accept"));
}

TEST(GatePage, MarkdownAndHostileNames) {
  GateReport report = full_report();
  report.cases[0].name = "Model/<img src=x>|\n";
  report.warnings = {"<script>\n# x"};
  const std::string page = report_page(report, {.markdown = true});
  EXPECT_TRUE(page.starts_with("**FAILED: 1 REGRESSED")) << page;
  EXPECT_THAT(page, AllOf(HasSubstr("\\<img src=x\\>\\|"), HasSubstr("- \\<script\\> # x")));
}

TEST(GatePage, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(report_page(full_report(), {}), Not(HasSubstr("\033")));
  EXPECT_THAT(report_page(full_report(), {.colour = true}), HasSubstr("\033[31mREGRESSED"));
}

TEST(GateExport, JsonBothWays) {
  GateReport report = full_report();
  EXPECT_EQ(report_from_json(report_to_json(report)), report);
  results::Json json = report_to_json(report);
  json["cases"][0]["outcome"] = "MAYBE";
  EXPECT_THROW(static_cast<void>(report_from_json(json)), std::runtime_error);
  json = report_to_json(report);
  json["unknown"] = 1;
  EXPECT_THROW(static_cast<void>(report_from_json(json)), std::runtime_error);
}

TEST(GateExport, EveryVerdictHasAName) {
  for (const Outcome outcome : kAllOf<Outcome>) EXPECT_EQ(results::parse_outcome(to_string(outcome)), outcome);
  EXPECT_FALSE(results::parse_outcome("").has_value());
}

TEST(GateExport, AHookGetsALineAndTheCounts) {
  const results::Json message = report_message(full_report(), false, {});
  EXPECT_EQ(message.at("text"), "FAILED: 1 REGRESSED, 1 SAME. Not kept.");
  EXPECT_EQ(message.at("outcomes").at("REGRESSED"), 1);
  EXPECT_EQ(message.at("exit_status"), 1);
}

TEST(GateExport, JunitFailsWhatWasExpectedAndNotJudgedAloneAndOnlyWithStrict) {
  GateReport report = full_report();
  report.cases[0].outcome = Outcome::kNotJudged;
  report.cases[0].is_expected = true;
  EXPECT_THAT(report_to_junit(report, false), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(report_to_junit(report, true), HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""));
  report.cases[0].is_expected = false;
  EXPECT_THAT(report_to_junit(report, true), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  report.cases[0].outcome = Outcome::kUnconfirmed;
  EXPECT_THAT(report_to_junit(report, true), HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""));
}

TEST(GateExport, JunitFailsWhatTheExitStatusFailsAndHasATestForEachPartOfTheEvidence) {
  GateReport report = full_report();
  EXPECT_THAT(report_to_junit(report, false),
              AllOf(HasSubstr("tests=\"8\" failures=\"1\" errors=\"0\" skipped=\"0\""),
                    HasSubstr("<failure message=\"REGRESSED: +4.80 % (25.00 -&gt; 26.20 ms), confirmed +4.70")));
  report.cases[0].outcome = Outcome::kNotJudged;
  report.null_control->has_failed = true;
  EXPECT_THAT(report_to_junit(report, false),
              AllOf(HasSubstr("failures=\"1\" errors=\"0\" skipped=\"1\""),
                    HasSubstr("<failure message=\"NULL_CONTROL_FAILED: two runs of one build differ\"")));
  report.null_control.reset();
  report.cases[0].outcome = Outcome::kUnconfirmed;
  EXPECT_THAT(report_to_junit(report, false), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(report_to_junit(report, true), HasSubstr("failures=\"1\""));
  report.findings = {
      {.outcome = Outcome::kIncomplete, .subject = Subject::kClock, .text = "wrong", .stops_judging = true}};
  EXPECT_THAT(report_to_junit(report, false),
              AllOf(HasSubstr("name=\"clock\""), HasSubstr("<failure message=\"INCOMPLETE: wrong\"")));
  for (const Subject subject : kAllOf<Subject>) {
    EXPECT_THAT(report_to_junit(report, false), HasSubstr(std::string{"name=\""}.append(to_string(subject)) + "\""));
  }
}

}  // namespace
}  // namespace tbench::gate

#include "tbench/report/night_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tbench/report/night_export.hpp"

namespace tbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

NightCase regressed_case() {
  NightCase c;
  c.name = "Model/size:small";
  c.family = "Model";
  c.key = c.name;
  c.verdict = NightVerdict::kRegressed;
  c.found_by = "history";
  c.nights = 20;
  c.reference = Seconds{0.025};
  c.tonight = Seconds{0.0262};
  c.ratio = 1.048;
  c.z = 12.5;
  c.threshold = 0.02;
  c.peak_bytes = 1'000'000;
  c.confirmed_ratio = 1.047;
  c.confirmed_low = 1.042;
  c.confirmed_high = 1.051;
  c.adjusted_p = 0.0001;
  c.blocks = 6;
  c.last_good = NightMark{"2026-01-01T03:00:00Z", "aaaaaaaaaaaaaaaaaaaa"};
  c.first_bad = NightMark{"2026-01-02T03:00:00Z", "bbbbbbbbbbbbbbbbbbbb"};
  c.since = {"commit: aaaaaaaaaaaa against bbbbbbbbbbbb", "compiler: GNU 12 against GNU 13"};
  c.note = "memory +1.0 MiB";
  return c;
}

NightReport full_report() {
  NightReport report;
  report.started = "2026-01-03T03:00:00Z";
  report.commit = "cccccccccccccccccccc";
  report.fingerprint = "NVIDIA H200, 132 SMs";
  report.epoch = "driver 580.1, schema 1";
  report.processes = 5;
  report.nights = 20;
  report.ceilings = {{"Ceiling/what:copy", 1.002, 0.01, true}};
  report.null_control = NullControl{.cases = 10, .rejected = {"Model/size:x (+0.50 %)"}, .has_failed = false};
  report.epoch_shift = EpochShift{
      .from = "driver 1", .to = "driver 2", .cases = 3, .mean_ratio = 1.01, .beyond = {{"Model/size:y", 1.1}}};
  report.missing = {"Model/size:gone"};
  report.stale = {"Model/size:old (last on 2025-12-30T03:00:00Z)"};
  report.warnings = {"careful"};
  report.cases = {regressed_case(), {}};
  report.cases[1].name = "Model/size:fine";
  return report;
}

TEST(NightPage, TellsWhatRegressedByHowMuchSinceWhen) {
  const std::string page = night_page(full_report(), {});
  EXPECT_THAT(
      page, AllOf(HasSubstr("REGRESSED  Model/size:small"), HasSubstr("25.00"), HasSubstr("26.20"), HasSubstr("+4.80"),
                  HasSubstr("12.5"), HasSubstr("+4.70 (+4.20 .. +5.10)"), HasSubstr("2026-01-02 (bbbbbbbbbbbb)")));
  EXPECT_THAT(page, HasSubstr("good on 2026-01-01 (aaaaaaaaaaaa), bad from 2026-01-02 (bbbbbbbbbbbb); commit:"));
  EXPECT_THAT(page, AllOf(HasSubstr("compiler: GNU 12 against GNU 13"), HasSubstr("Null control: differs at 1 %"),
                          HasSubstr("now: driver 2"), HasSubstr("Model/size:y +10.00 %"), HasSubstr("Model/size:gone"),
                          HasSubstr("Model/size:old"), HasSubstr("careful")));
  EXPECT_THAT(page, Not(HasSubstr("Model/size:fine")));
  EXPECT_TRUE(page.ends_with("\nREGRESSED: 2 cases: 1 REGRESSED, 1 PASSED\n")) << page;
}

TEST(NightPage, AMachineThatIsOffExplainsItself) {
  NightReport report = full_report();
  report.is_valid = false;
  report.ceilings = {{"Ceiling/what:copy", 1.08, 0.01, false}};
  const std::string page = night_page(report, {});
  EXPECT_THAT(page,
              AllOf(HasSubstr("ENVIRONMENT: the machine is not as it was"),
                    HasSubstr("Ceiling/what:copy: +8.00 % against the median of the last nights, 1.0 % allowed")));
  EXPECT_THAT(page, Not(HasSubstr("found by")));
}

TEST(NightPage, MarkdownAndHostileNames) {
  NightReport report = full_report();
  report.cases[0].name = "Model/<img src=x>|\n";
  report.warnings = {"<script>\n# x"};
  const std::string page = night_page(report, {.markdown = true});
  EXPECT_TRUE(page.starts_with("**REGRESSED: 2 cases")) << page;
  EXPECT_THAT(page, AllOf(HasSubstr("\\<img src=x\\>\\|"), HasSubstr("- \\<script\\> # x")));
}

TEST(NightPage, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(night_page(full_report(), {}), Not(HasSubstr("\033")));
  EXPECT_THAT(night_page(full_report(), {.colour = true}), HasSubstr("\033[31mREGRESSED"));
}

TEST(NightExport, JsonBothWays) {
  NightReport report = full_report();
  EXPECT_EQ(night_from_json(night_to_json(report)), report);
  Json json = night_to_json(report);
  json["cases"][0]["verdict"] = "MAYBE";
  EXPECT_THROW(static_cast<void>(night_from_json(json)), std::runtime_error);
  json = night_to_json(report);
  json["unknown"] = 1;
  EXPECT_THROW(static_cast<void>(night_from_json(json)), std::runtime_error);
}

TEST(NightExport, EveryVerdictHasAName) {
  for (const NightVerdict verdict : kAllNightVerdicts) EXPECT_EQ(parse_night_verdict(to_string(verdict)), verdict);
  EXPECT_FALSE(parse_night_verdict("").has_value());
}

TEST(NightExport, AHookGetsALineAndTheCounts) {
  const Json message = night_message(full_report(), false);
  EXPECT_EQ(message.at("text"), "REGRESSED: 2 cases: 1 REGRESSED, 1 PASSED");
  EXPECT_EQ(message.at("verdicts").at("REGRESSED"), 1);
  EXPECT_EQ(message.at("exit_status"), 1);
}

TEST(NightExport, JunitFailsOnlyWhatTheExitStatusFails) {
  NightReport report = full_report();
  EXPECT_THAT(night_to_junit(report, false),
              AllOf(HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""),
                    HasSubstr("<failure message=\"REGRESSED: +4.80 % (25.00 -&gt; 26.20 ms), run again +4.70")));
  report.null_control->has_failed = true;
  EXPECT_THAT(night_to_junit(report, false), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  report.null_control.reset();
  report.cases[0].verdict = NightVerdict::kUnconfirmed;
  EXPECT_THAT(night_to_junit(report, false), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(night_to_junit(report, true), HasSubstr("failures=\"1\""));
}

}  // namespace
}  // namespace tbench::report

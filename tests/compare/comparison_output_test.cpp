// Compares every format with a file in tests/data/diff. After a change, review the new output, and then replace the
// files: TBENCH_UPDATE_GOLDEN=1 makes this test write them.
#include "tbench/compare/comparison_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/comparison_samples.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string{TBENCH_TEST_DATA "/diff/"} + name;
  if (std::getenv("TBENCH_UPDATE_GOLDEN") != nullptr) support::write_text(path, text);
  EXPECT_EQ(text, results::read_whole_file(path)) << name;
}

CaseId small(const std::string& impl) { return support::model_id("train_step", impl); }

results::MeasuredCase measured(CaseId id, const std::vector<double>& seconds, double clock_hz, std::int64_t bytes) {
  results::MeasuredCase c = support::timed_case(std::move(id), seconds, clock_hz);
  for (results::Replicate& replicate : c.replicates) {
    replicate.peak_bytes = bytes;
    replicate.peak_share_at_clock = 0.0002 / replicate.time->value;
    replicate.ceiling_share = 0.0003 / replicate.time->value;
    replicate.relative_half_width = 0.002;
  }
  return c;
}

constexpr std::int64_t kGibi = 1 << 30;
const CaseId kBig = support::model_id("train_step", "eager", "2.7B", 1024);
const CaseId kHostile{"Kernel", {{"op", "a|<b>,\"c\"&"}}};

ComparisonSide base_side() {
  return support::side_with(
      {measured(small("eager"), {0.0250, 0.0251, 0.0249}, 1.98e9, 3 * kGibi),
       measured(small("sdpa"), {0.0200, 0.0201, 0.0199}, 1.98e9, 2 * kGibi),
       measured(small("fused"), {0.0150, 0.0151, 0.0149}, 1.98e9, 2 * kGibi),
       measured(kBig, {0.5, 0.501, 0.499}, 1.98e9, 40 * kGibi), support::timed_case(kHostile, {10e-6, 12e-6, 14e-6}),
       support::timed_case(CaseId{"Kernel", {{"op", "gone"}}}, {1e-3})},
      "base.json");
}

ComparisonSide new_side() {
  ComparisonSide side = support::side_with(
      {measured(small("eager"), {0.0250, 0.0251, 0.0249}, 1.98e9, 3 * kGibi),
       measured(small("sdpa"), {0.0210, 0.0211, 0.0209}, 1.98e9, 2 * kGibi + kGibi / 4),
       measured(small("fused"), {0.0160, 0.0161, 0.0159}, 1.86e9, 2 * kGibi),
       support::compared_case(kBig, {support::failed_replicate(Status::kOom, "out of memory: 8 GiB asked for")}),
       support::timed_case(kHostile, {10.5e-6, 11e-6, 14e-6}),
       support::timed_case(CaseId{"Kernel", {{"op", "new"}}}, {1e-3})},
      "new.json");
  side.paths.emplace_back("new2.json");
  side.environments[0].versions["driver"] = "590.1";
  side.warnings = {"'new.json': the run was interrupted"};
  return side;
}

Comparison verdicts() { return compare(base_side(), new_side(), {}); }

Comparison cross() {
  ComparisonSide side = new_side();
  side.environments[0].gpu->name = "NVIDIA H100 80GB HBM3";
  return compare(base_side(), side, {});
}

TEST(ComparisonOutput, Text) {
  expect_golden("verdicts.txt", comparison_console(verdicts(), {}));
  expect_golden("verdicts_80.txt", comparison_console(verdicts(), {.width = 80}));
  expect_golden("verdicts_all.txt", comparison_console(verdicts(), {.all = true}));
  expect_golden("cross.txt", comparison_console(cross(), {}));
}

TEST(ComparisonOutput, AnswersSeparatelyForTimeMemoryAndCasesThatFailed) {
  const std::vector<double> usual{0.0250, 0.0251, 0.0249};
  const std::vector<double> faster{0.0200, 0.0201, 0.0199};
  const auto failed = support::compared_case(kBig, {support::failed_replicate(Status::kOom, "out of memory")});
  const auto answer = [](std::vector<results::MeasuredCase> base, std::vector<results::MeasuredCase> next) {
    const std::string text = comparison_console(
        compare(support::side_with(std::move(base), "a.json"), support::side_with(std::move(next), "b.json"), {}), {});
    return text.substr(0, text.find('\n'));
  };
  const auto small_of = [&](const std::vector<double>& times, std::int64_t bytes) {
    return measured(small("sdpa"), times, 1.98e9, bytes);
  };
  EXPECT_EQ(answer({small_of(usual, 3 * kGibi)}, {small_of(usual, kGibi)}), "1 case needs less memory.");
  EXPECT_EQ(answer({small_of(usual, kGibi)}, {small_of(usual, 3 * kGibi)}), "1 case needs more memory.");
  EXPECT_THAT(answer({small_of(usual, kGibi)}, {small_of(faster, kGibi)}),
              testing::StartsWith("1 case is faster, by 1"));
  EXPECT_THAT(answer({small_of(faster, kGibi)}, {small_of(usual, 3 * kGibi)}),
              testing::StartsWith("1 case is slower, by 2"));
  EXPECT_EQ(answer({failed}, {measured(kBig, usual, 1.98e9, kGibi)}), "1 case no longer fails.");
}

TEST(ComparisonOutput, ABuildOfATreeWithChangesHasItsMark) {
  ComparisonSide next = new_side();
  next.environments[0].commit += "-dirty";
  EXPECT_THAT(comparison_console(compare(base_side(), next, {}), {}),
              HasSubstr("builds 0123456789ab and\n  0123456789ab-dirty\n"));
  next.environments[0].gpu->name = "NVIDIA H100 80GB HBM3";
  EXPECT_THAT(comparison_console(compare(base_side(), next, {}), {}), HasSubstr("  0123456789ab-dirty  "));
}

TEST(ComparisonOutput, AnotherGpuModelIsToldWhatTheSpreadsAreKnownFrom) {
  const auto known_from = testing::Contains(HasSubstr("the spreads are known from H100 and H200, not from this GPU"));
  const auto on = [](const std::string& gpu) {
    ComparisonSide side = support::side_with({support::timed_case(kHostile, {100e-6}, 1.98e9)}, gpu + ".json");
    side.cases[0].replicates[0].regime = Regime::kBurst;
    side.environments[0].gpu->name = gpu;
    return side;
  };
  const ComparisonSide unknown = on("NVIDIA A100-SXM4-80GB");
  EXPECT_THAT(compare(unknown, unknown, {}).warnings, known_from);
  EXPECT_THAT(compare(on("NVIDIA H200"), unknown, {}).warnings, known_from);
  EXPECT_THAT(comparison_markdown(compare(unknown, unknown, {})), HasSubstr("known from H100 and H200"));
  EXPECT_THAT(compare(on("NVIDIA H200"), on("NVIDIA H100 80GB HBM3"), {}).warnings, Not(known_from));
  // The step has no trace, so no spread from another GPU is used, and there is no warning of one.
  ComparisonSide step = support::side_with({measured(small("eager"), {0.025}, 1.98e9, kGibi)}, "step.json");
  step.environments[0].gpu->name = "NVIDIA A100-SXM4-80GB";
  EXPECT_THAT(compare(step, step, {}).warnings, Not(known_from));
}

TEST(ComparisonOutput, SpreadsOfOnesOwnAreKnownFromTheirGpu) {
  KnownSpreads spreads = built_in_spreads();
  KnownSpreads own;
  own.gpus = {"NVIDIA H200", "NVIDIA A100-SXM4-80GB"};
  spreads.put_over(own);
  EXPECT_THAT(spreads.gpus, testing::ElementsAre("NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A100-SXM4-80GB"));
}

TEST(ComparisonOutput, EveryBuildOfASideIsNamed) {
  ComparisonSide next = new_side();
  next.environments.push_back(next.environments[0]);
  next.environments[1].commit = "abcdef012345";
  EXPECT_THAT(comparison_console(compare(base_side(), next, {.force = true}), {.width = 100}),
              HasSubstr("0123456789ab, abcdef012345"));
}

TEST(ComparisonOutput, Markdown) {
  expect_golden("verdicts.md", comparison_markdown(verdicts()));
  expect_golden("cross.md", comparison_markdown(cross()));
}

TEST(ComparisonOutput, Json) {
  const results::Json json = comparison_to_json(verdicts(), true);
  expect_golden("verdicts.json", results::pretty(json));
  EXPECT_EQ(json.at("exit_status"), 1);
  EXPECT_EQ(json.at("outcomes").at("REGRESSED"), 1);
  expect_golden("cross.json", results::pretty(comparison_to_json(cross(), true)));
}

TEST(ComparisonOutput, Csv) { expect_golden("verdicts.csv", comparison_to_csv(verdicts())); }

TEST(ComparisonOutput, JUnit) {
  expect_golden("verdicts.xml", comparison_to_junit(verdicts(), false));
  EXPECT_THAT(comparison_to_junit(verdicts(), false), HasSubstr("failures=\"2\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(comparison_to_junit(verdicts(), true), HasSubstr("failures=\"4\" errors=\"0\" skipped=\"0\""));
}

TEST(ComparisonOutput, XmlHoldsNoControlCharactersAndNoInvalidUtf8) {
  ComparisonSide base = support::side_with({support::timed_case(CaseId{"Kernel", {{"op", "\x01\xff"}}}, {1e-3})});
  const std::string xml = comparison_to_junit(compare(base, base, {}), false);
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
  EXPECT_THAT(xml, Not(HasSubstr("\xff")));
  EXPECT_THAT(xml, HasSubstr("Kernel/op: \xef\xbf\xbd"));
}

TEST(ComparisonOutput, ColourIsTheVerdictsAlone) {
  const std::string plain = comparison_console(verdicts(), {});
  const std::string coloured = comparison_console(verdicts(), {.colour = true});
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  EXPECT_THAT(coloured, HasSubstr("\033[31mREGRESSED\033[0m "));
  EXPECT_THAT(coloured, Not(HasSubstr("\033[31mSAME")));
  std::string stripped = coloured;
  for (const std::string code : {"\033[31m", "\033[32m", "\033[33m", "\033[0m"}) {
    for (std::size_t at = stripped.find(code); at != std::string::npos; at = stripped.find(code)) {
      stripped.erase(at, code.size());
    }
  }
  EXPECT_EQ(stripped, plain);
}

TEST(ComparisonOutput, OneFileASideShowsEachSidesOwnSpread) {
  const ComparisonSide base = support::side_with({measured(small("eager"), {0.025}, 1.98e9, kGibi)});
  const ComparisonSide next = support::side_with({measured(small("eager"), {0.026}, 1.98e9, kGibi)});
  expect_golden("single.txt", comparison_console(compare(base, next, {}), {}));
}

TEST(ComparisonPage, TracedCasesHaveTheGpusChangeBesideTheSteps) {
  const auto traced = [](double step_s, double device_s) {
    results::MeasuredCase c = measured(small("sdpa"), {step_s, 1.001 * step_s, 0.999 * step_s}, 1.98e9, kGibi);
    for (results::Replicate& replicate : c.replicates) replicate.device_time = Seconds{device_s};
    return support::side_with({c}, "traced.json");
  };
  const Comparison host = compare(traced(0.020, 0.010), traced(0.021, 0.010), {});
  const std::string page = comparison_console(host, {});
  EXPECT_THAT(page, HasSubstr("HOST"));
  EXPECT_THAT(page, testing::ContainsRegex("HOST +[+]5[.]0 .*[+]0[.]0 .* Model small 512 4 train_step bf16 sdpa\n"));
  EXPECT_THAT(comparison_markdown(host), testing::ContainsRegex("change %.*device %.*cycles %"));
  EXPECT_EQ(exit_status(host, false), 0);
  EXPECT_EQ(exit_status(host, true), 4);
  const Comparison gpus = compare(traced(0.020, 0.010), traced(0.018, 0.008), {.cross = true});
  EXPECT_THAT(comparison_console(gpus, {}), HasSubstr("New over base, by the GPU's time: Model 0.800 (1)"));
  EXPECT_THAT(comparison_console(gpus, {}), testing::ContainsRegex("0[.]800 +0[.]798 [.][.] 0[.]802 +0[.]900"));
  const nlohmann::ordered_json json = comparison_to_json(gpus, false);
  EXPECT_NEAR(json.at("cases").at(0).at("device_ratio").get<double>(), 0.8, 1e-12);
  EXPECT_NEAR(json.at("families").at(0).at("device_ratio").get<double>(), 0.8, 1e-12);
}

}  // namespace
}  // namespace tbench::compare

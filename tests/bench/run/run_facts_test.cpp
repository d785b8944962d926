#include "bench/run/run_facts.hpp"

#include <gtest/gtest.h>

#include "support/sample_results.hpp"

namespace tbench::bench {
namespace {

TEST(RunFacts, WithoutIdentityNothingTellsAMachineFromOthersOfItsKind) {
  const Environment environment = support::golden_file().environment;
  ASSERT_NE(environment.gpu.value().uuid, "");
  const Environment anonymous = without_identity(environment);
  EXPECT_EQ(anonymous.gpu.value().uuid, "");
  Environment same = environment;
  same.gpu->uuid.clear();
  EXPECT_EQ(anonymous, same);
  EXPECT_EQ(without_identity(support::cpu_environment()), support::cpu_environment());
}

TEST(RunFacts, AShardSaysWhichItIsAndOfHowManyCases) {
  Selection selection{.suite = Suite::kSmoke,
                      .cases = {CaseId{"Model", {{"n", "1"}}}, CaseId{"Ceiling", {{"what", "copy"}}}}};
  Options options;
  EXPECT_FALSE(recorded_options(options, selection, {}, false).contains("shard"));
  options.shard = Shard{2, 4};
  const auto recorded = recorded_options(options, selection, {}, false);
  EXPECT_EQ(recorded.at("shard"), "2/4");
  EXPECT_EQ(recorded.at("shared_cases"), "1");
}

TEST(RunFacts, TheSmokeSuiteSaysHowFewSamplesItTakes) {
  Selection selection{.suite = Suite::kSmoke, .cases = {CaseId{"Model", {{"n", "1"}}}}};
  Options options;
  const auto smoke = recorded_options(options, selection, {Regime::kSustained}, false);
  EXPECT_EQ(smoke.at("warmup"), "3");
  EXPECT_EQ(smoke.at("samples"), "5");
  EXPECT_EQ(smoke.at("verify"), "twice one case per family");
  options.min_time = Seconds{0.1};
  options.min_warm_up_time = Seconds{0.1};
  options.verify_again = true;
  const auto longer = recorded_options(options, selection, {Regime::kSustained}, false);
  EXPECT_FALSE(longer.contains("warmup") || longer.contains("samples") || longer.contains("verify"));
  selection.suite = Suite::kStandard;
  EXPECT_FALSE(recorded_options({}, selection, {Regime::kSustained}, false).contains("samples"));
}

TEST(RunFacts, TheIsolationIsRecordedWhereItIsNotTheUsualOne) {
  const Selection selection{.suite = Suite::kStandard, .cases = {CaseId{"Model", {{"n", "1"}}}}};
  EXPECT_FALSE(recorded_options({}, selection, {}, false).contains("isolate"));
  Options options;
  options.isolation = Isolation::kCase;
  EXPECT_EQ(recorded_options(options, selection, {}, false).at("isolate"), "case");
  options.isolation = Isolation::kNone;
  EXPECT_EQ(recorded_options(options, selection, {}, false).at("isolate"), "none");
}

TEST(RunFacts, OfTheHostTellOfThisMachine) {
  const results::HostFacts host = read_host_facts("./transformer_bench");
  EXPECT_EQ(host.executable, "./transformer_bench");
  EXPECT_EQ(host.load_avg.size(), 3U);
  EXPECT_GT(host.mhz_per_cpu.value_or(1000), 100);
}

}  // namespace
}  // namespace tbench::bench

// Tests how the program handles plug-ins, without a library: versions, and the ceiling.
#include "bench/run/plugins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

CaseId product_of(const std::string& impl, const std::string& m = "64") {
  return CaseId{"Gemm", {{"m", m}, {"impl", impl}}};
}

/// Adds the plug-ins "first" and "second" for products, once per process.
void add_two() {
  if (model::find_plugin("first") != nullptr) return;
  Options options;
  options.plugins = {"libfirst.so", "libsecond.so"};
  add_plugins({{.path = "/libfirst.so", .name = "first", .digest = std::string(64, 'a'), .parts = {"Gemm"}},
               {.path = "/libsecond.so", .name = "second", .digest = std::string(64, 'b'), .parts = {"Gemm"}}},
              options);
}

TEST(Plugins, AWorkerIsToldWhatTheParentKnows) {
  const model::Plugin plugin{
      .path = "/a b/lib\"x\".so", .name = "x", .digest = "0f", .parts = {"Gemm", "Kernel/op:add"}};
  Options options;
  options.plugins = {"libx.so"};
  options.described_plugins = to_text({plugin});
  const std::vector<model::Plugin> told = describe_plugins(options);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].path, plugin.path);
  EXPECT_EQ(told[0].name, plugin.name);
  EXPECT_EQ(told[0].digest, plugin.digest);
  EXPECT_EQ(told[0].parts, plugin.parts);
  EXPECT_TRUE(describe_plugins({}).empty());
}

TEST(Plugins, AVersionIsTheFileAndItsDigest) {
  Environment environment;
  add_plugin_versions(
      environment, {{.path = "/some/where/libmine.so", .name = "mine", .digest = std::string(64, 'c'), .parts = {}}});
  EXPECT_EQ(environment.versions.at("plugin.mine"), "libmine.so sha256:cccccccccccccccc");
}

TEST(Plugins, ATakenNameIsAnErrorOfItsFlag) {
  Options options;
  options.plugins = {"./libmine.so"};
  try {
    add_plugins({{.path = "/libmine.so", .name = "aten", .digest = "", .parts = {"Gemm"}}}, options);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--tb_plugin=./libmine.so: its name 'aten' is that of a built-in"));
  }
}

/// Returns a record of 2e9 FLOP in 1 ms: 2e12 FLOP/s.
Record timed(const std::string& impl, double ceiling) {
  Record record;
  record.id = product_of(impl);
  record.status = Status::kOk;
  record.timing.emplace();
  record.timing->median = Seconds{1e-3};
  record.work = Work{.flop = {2e9}, .tokens = 0};
  record.work->ceiling = "gemm_fp32";
  record.ceiling_per_second = ceiling;
  return record;
}

TEST(Plugins, AboveTheCeilingIsIncorrectForThemAlone) {
  add_two();
  Record honest = timed("first", 2.5e12);
  refuse_above_ceiling(honest);
  EXPECT_EQ(honest.status, Status::kOk);
  Record within_the_error = timed("first", 1.97e12);
  refuse_above_ceiling(within_the_error);
  EXPECT_EQ(within_the_error.status, Status::kOk);
  Record cheat = timed("first", 1e12);
  refuse_above_ceiling(cheat);
  EXPECT_EQ(cheat.status, Status::kIncorrect);
  EXPECT_THAT(cheat.reason, HasSubstr("2.00 of the ceiling 'gemm_fp32'"));
  EXPECT_FALSE(cheat.timing.has_value());
  EXPECT_FALSE(cheat.ceiling_per_second.has_value());
  Record built_in = timed("aten", 1e12);
  refuse_above_ceiling(built_in);
  EXPECT_EQ(built_in.status, Status::kOk);
}

}  // namespace
}  // namespace tbench::bench

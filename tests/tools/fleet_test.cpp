// Tests `tbench fleet` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/fleet_samples.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TbenchFleet : public testing::Test {
 protected:
  TbenchFleet() {
    for (int i = 0; i < 5; ++i) {
      files_.push_back(support::gpu_file(i, [i](const CaseId&) { return i % 2 == 0 ? 0.0005 : -0.0005; }));
    }
  }
  support::ChildResult fleet(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> command{TBENCH_TOOL, "fleet"};
    for (const results::NamedResults& one : files_) {
      command.push_back(folder_.file(one.label + ".gz"));
      results::write_result_file(command.back(), one.file);
    }
    command.insert(command.end(), flags.begin(), flags.end());
    return support::run_tool(command);
  }

  support::TemporaryFolder folder_;
  std::vector<results::NamedResults> files_;
};

TEST_F(TbenchFleet, ExitStatusAndOutputs) {
  const support::ChildResult sound = fleet();
  EXPECT_EQ(sound.exit_status, 0) << sound.err;
  EXPECT_THAT(sound.out, AllOf(StartsWith("GPU "), HasSubstr("5 machines: none slow")));
  // The known spreads of the H200 are used unless --alone is given.
  EXPECT_THAT(sound.out, HasSubstr("1.15 (8)"));
  support::slow_down(files_[3], compare::Resource::kFloat32, 0.1);
  const support::ChildResult slow = fleet({"--markdown"});
  EXPECT_EQ(slow.exit_status, 1);
  EXPECT_THAT(slow.out, StartsWith("**5 machines: GPU-10000003 slow in float32**"));
  const support::ChildResult json = fleet({"--json", "--alone"});
  EXPECT_EQ(json.exit_status, 1);
  EXPECT_EQ(nlohmann::json::parse(json.out).at("resources").at(1).at("machines").at(3).at("verdict"), "slow");
  support::write_text(folder_.file("known.json"), json.out);
  EXPECT_EQ(fleet({"--known=" + folder_.file("known.json")}).exit_status, 1);
}

TEST_F(TbenchFleet, WrongUse) {
  const auto expect_error = [&](const std::vector<std::string>& flags, const std::string& message) {
    const support::ChildResult result = fleet(flags);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, AllOf(StartsWith("tbench: "), HasSubstr(message)));
  };
  expect_error({"--false-alarms=0"}, "--false-alarms: 0 is not a rate; give percent > 0 and < 100");
  expect_error({"--false-alarms=100"}, "--false-alarms: 100 is not a rate");
  expect_error({"--markdown", "--json"}, "exclude each other");
  expect_error({"--alone", "--known=" + folder_.file("gpu0.json.gz")}, "exclude each other");
  expect_error({"--known=" + folder_.file("gpu0.json.gz")}, "give what 'tbench fleet --json' printed of sound GPUs");
  expect_error({folder_.file("none.json")}, "none.json");
  files_.front().file.environment.gpu->name = "NVIDIA H100";
  const support::ChildResult mixed = fleet();
  EXPECT_EQ(mixed.exit_status, 3);
  EXPECT_THAT(mixed.err, StartsWith("tbench: not comparable: GPU: NVIDIA H100 in '"));
}

}  // namespace
}  // namespace tbench::tool

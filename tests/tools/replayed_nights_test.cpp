// Replays thirty nights of results from an H200 through `tbench gate`, as a nightly job runs it. A night with a slow
// host and a night with a slow implementation follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/results/record_json.hpp"

namespace tbench::tool {
namespace {

using Words = std::vector<std::string>;

class ReplayedNights : public testing::Test {
 protected:
  static Words bench(int night, const Words& variables) {
    Words command{"/usr/bin/env", "REPLAY_NIGHT=" + std::to_string(night)};
    command.insert(command.end(), variables.begin(), variables.end());
    command.emplace_back(TBENCH_REPLAYED_BENCH);
    return command;
  }

  static std::string shell_command(int night, const Words& variables) {
    std::string text;
    for (const std::string& word : bench(night, variables)) text += "'" + word + "' ";
    return text;
  }

  /// Measures a night and evaluates it.
  results::Json judged(int night, const Words& variables = {}, const Words& flags = {}) {
    const std::string file = folder_.file("night" + std::to_string(night) + ".json");
    Words measure = bench(night, variables);
    measure.push_back("--benchmark_out=" + file);
    EXPECT_EQ(support::run_tool(measure).exit_status, 0);
    Words gate{TBENCH_TOOL, "gate", "--db", folder_.file("history.db"), file, "--json"};
    gate.insert(gate.end(), flags.begin(), flags.end());
    const support::ChildResult result = support::run_tool(gate);
    EXPECT_TRUE(result.exit_status == 0 || result.exit_status == 1) << result.exit_status << result.err;
    return results::Json::parse(result.out);
  }

  support::TemporaryFolder folder_;
};

TEST_F(ReplayedNights, TellASlowHostFromASlowImplementationWhichIsRedInItsFirstNight) {
  constexpr int kNights = 30;
  int not_judged = 0;
  for (int night = 0; night < kNights; ++night) {
    const results::Json report = judged(night);
    EXPECT_EQ(report.at("exit_status"), 0) << "night " << night << ": " << report.at("text");
    if (!report.at("night").at("is_valid")) ++not_judged;
  }
  EXPECT_LE(not_judged, 1) << "the host's ceilings wander, the device's do not";

  // The host takes longer, but the GPU does not. Nothing is run again; the programs given for that do not exist.
  const results::Json host =
      judged(kNights, {"REPLAY_HOST=1.2"}, {"--good", "/no/such/program", "--new", "/no/such/program"});
  EXPECT_EQ(host.at("exit_status"), 0) << host.at("text");
  EXPECT_EQ(host.at("outcome"), "REVIEW");
  for (const auto& c : host.at("night").at("cases")) {
    EXPECT_EQ(c.at("outcome"), "HOST") << c.at("name");
    EXPECT_NEAR(c.at("ratio").get<double>(), 1.2, 0.03) << c.at("name");
    EXPECT_NEAR(c.at("device_ratio").get<double>(), 1, 0.025) << c.at("name");
  }

  constexpr int kSlowNight = kNights + 1;
  const Words slow{"REPLAY_SLOW=impl:flash"};
  const results::Json red =
      judged(kSlowNight, slow, {"--good", shell_command(kSlowNight, {}), "--new", shell_command(kSlowNight, slow)});
  EXPECT_EQ(red.at("outcome"), "FAILED");
  for (const auto& c : red.at("night").at("cases")) {
    const bool is_slow = c.at("name").get<std::string>().find("impl:flash") != std::string::npos;
    EXPECT_EQ(c.at("outcome") == "REGRESSED", is_slow) << c.at("name") << ": " << c.at("outcome");
  }
}

}  // namespace
}  // namespace tbench::tool

// Tests the whole program with cases that crash, hang, give wrong results and run out of memory. Each gets its status,
// and the other cases are measured all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

// A fixed number of steps keeps every case from being unstable on a busy machine.
constexpr const char* kWarmUp = "--tb_warmup=2";
constexpr const char* kSamples = "--tb_samples=10";

class Planted : public InFolder {
 protected:
  CommandResult run(std::vector<std::string> flags) const { return run_command(command(std::move(flags))); }
  /// Interrupts the run as soon as the first result is on the disk.
  [[nodiscard]] CommandResult run_interrupted(std::vector<std::string> flags) const {
    return run_command(command(std::move(flags)), out_);
  }
  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {TBENCH_PLANTED_PROGRAM, "--tb_device=cpu", "--benchmark_out=" + out_});
    return flags;
  }
  [[nodiscard]] const std::string& out() const { return out_; }
  [[nodiscard]] nlohmann::json contents() const {
    std::ifstream stream{out_};
    return nlohmann::json::parse(stream);
  }
  [[nodiscard]] nlohmann::json entries() const { return contents().at("benchmarks"); }
};

TEST_F(Planted, EveryFaultGetsItsStatusAndTheRestIsMeasured) {
  // A correct case runs before and after each fault, so that every fault has a successor.
  const CommandResult result = run(
      {"--tb_suite=smoke", "--tb_verify=twice", "--tb_timeout=3", "--tb_axis=Planted.index=1,2", kWarmUp, kSamples});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::map<std::string, std::string> expected{
      {"none", "ok"},
      {"oom", "oom"},
      {"throw", "crashed"},
      {"incorrect", "incorrect"},
      {"incorrect_later", "incorrect"},
      {"abort", "crashed"},
      {"segfault", "crashed"},
      {"exit", "crashed"},
      {"hang", "timeout"},
      {"bad_address", "crashed"},  // without a device, the launch itself fails
      {"peer_gone", "crashed"}};
  std::map<std::string, int> seen;
  for (const nlohmann::json& entry : entries()) {
    const std::string fault = entry.at("tbench").at("parameters").at("fault");
    EXPECT_EQ(entry.at("tbench").at("status"), expected.at(fault)) << entry.at("name");
    EXPECT_EQ(entry.contains("real_time"), fault == "none") << entry.at("name");
    EXPECT_EQ(entry.contains("error_message"), fault != "none") << entry.at("name");
    ++seen[fault];
  }
  for (const auto& [fault, status] : expected) EXPECT_EQ(seen[fault], 2) << fault;
  // On a CPU, the smoke suite has cases that cannot run only if no others are selected.
  EXPECT_EQ(seen["unsupported"], 0);
  EXPECT_EQ(run({"--tb_suite=smoke", "--benchmark_filter=fault:unsupported"}).status, 0);
  EXPECT_EQ(entries()[0].at("tbench").at("status"), "unsupported");
}

TEST_F(Planted, TheReasonSaysWhatHappened) {
  EXPECT_EQ(run({"--benchmark_filter=segfault"}).status, 1);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("Segmentation fault"));
  EXPECT_EQ(run({"--benchmark_filter=incorrect"}).status, 1);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("output[3] is 2, the reference says 1"));
  EXPECT_EQ(run({"--benchmark_filter=peer_gone"}).status, 1);
  EXPECT_EQ(entries()[0].at("error_message"), "the peer is gone: Broken pipe");  // an error, not a signal
  EXPECT_EQ(run({"--benchmark_filter=oom"}).status, 0);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("1 TiB"));
  EXPECT_EQ(entries()[0].at("tbench").at("requested_bytes"), std::int64_t{1} << 40);
}

TEST_F(Planted, WhatIsWrongAfterTheTimingIsFoundUnlessVerifyingAgainIsSwitchedOff) {
  const std::string filter = "--benchmark_filter=incorrect_later";
  EXPECT_EQ(run({filter, kWarmUp, kSamples}).status, 1);
  EXPECT_EQ(entries()[0].at("error_message"),
            "found after the timing, on other data: output[3] is 2, the reference says 1");
  EXPECT_EQ(contents().at("context").at("tbench").at("options").at("verify"), "twice one case per family");
  EXPECT_EQ(run({filter, "--tb_verify=twice", kWarmUp, kSamples}).status, 1);
  EXPECT_FALSE(contents().at("context").at("tbench").at("options").contains("verify"));
  EXPECT_EQ(run({filter, "--tb_verify=once", kWarmUp, kSamples}).status, 0);
  EXPECT_EQ(entries()[0].at("tbench").at("status"), "ok");
  EXPECT_EQ(contents().at("context").at("tbench").at("options").at("verify"), "once");
}

TEST_F(Planted, AFreshProcessForEveryCaseGivesTheSame) {
  const CommandResult result =
      run({"--tb_isolate=case", "--benchmark_filter=fault:(none|abort|oom)", kWarmUp, kSamples});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(entries().size(), 3U);
}

TEST_F(Planted, CtrlCWritesWhatIsDoneAndExits130) {
  // Each of the ten cases takes at least 0.2 s. The signal arrives during the second case.
  const std::string filter = "--benchmark_filter=^Planted/";
  const std::string samples = "--tb_samples=100";
  const CommandResult result =
      run_interrupted({"--tb_suite=full", filter, "--tb_axis=Planted.index=1,2,3,4,5,6,7,8,9,10", kWarmUp, samples});
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_GE(entries().size(), 1U);
  EXPECT_LT(entries().size(), 10U);
  EXPECT_THAT(result.out, HasSubstr("interrupted"));
  const CommandResult resumed =
      run({"--tb_suite=full", filter, "--tb_axis=Planted.index=1,2,3", kWarmUp, samples, "--tb_resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(Planted, AnUnfinishedRunIsNotOverwrittenByAccident) {
  std::ofstream{out() + ".journal"} << "{}\n";
  const CommandResult result = run({"--benchmark_filter=fault:none"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--tb_resume"));
}

TEST_F(Planted, KernelsAreTimedInBursts) {
  const CommandResult result =
      run({"--tb_suite=standard", "--benchmark_filter=PlantedKernel", "--benchmark_min_warmup_time=0.05"});
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json file = contents();
  ASSERT_EQ(file.at("benchmarks").size(), 2U);
  const nlohmann::json& small = file.at("benchmarks")[0].at("tbench").at("timing");
  EXPECT_EQ(small.at("regime"), "burst");
  EXPECT_GT(small.at("launches_per_sample"), 1);
  EXPECT_EQ(small.at("resolution_limited"), small.at("median_s") < 10e-6);
  EXPECT_FALSE(small.contains("l2"));  // a processor's caches are not flushed
  EXPECT_FALSE(small.contains("wall_s"));
  EXPECT_EQ(file.at("benchmarks")[0].at("launches_per_sample"), small.at("launches_per_sample"));
  const nlohmann::json& large = file.at("benchmarks")[1].at("tbench").at("timing");
  EXPECT_EQ(large.at("launches_per_sample"), 1);
  EXPECT_EQ(large.at("resolution_limited"), false);
  EXPECT_EQ(result.out.find("resolution limited") != std::string::npos, small.at("resolution_limited"));
  const nlohmann::json& options = file.at("context").at("tbench").at("options");
  EXPECT_EQ(options.at("burst_min_time_s"), "0.1");
  EXPECT_EQ(options.at("burst_min_warmup_time_s"), "0.05");
  EXPECT_FALSE(options.contains("min_time_s"));  // applies to model steps, of which the run has none
  EXPECT_FALSE(options.contains("l2"));
}

TEST_F(Planted, AWarmCacheIsInTheNamesOfBurstsAlone) {
  const auto names = [&](const std::string& suite, const std::string& flag) {
    return run({"--benchmark_list_tests", "--tb_suite=" + suite, flag}).out;
  };
  EXPECT_THAT(
      names("standard", "--tb_l2=warm"),
      ::testing::StartsWith("PlantedKernel/us:3/l2:warm\nPlantedKernel/us:100/l2:warm\nFresh/fault:none/index:1\n"));
  EXPECT_THAT(names("standard", "--tb_l2=cold"),
              ::testing::StartsWith("PlantedKernel/us:3\nPlantedKernel/us:100\nFresh/fault:none/index:1\n"));
  EXPECT_THAT(names("full", "--tb_l2=warm"), ::testing::StartsWith("Planted/fault:none/index:1\n"));  // model steps
}

TEST_F(Planted, ACpuHasNoL2ToControlAndNothingToTrace) {
  const std::string profile = "--tb_profile=" + path("profiles");
  for (const std::string& flag :
       {"--tb_l2=warm"s, "--tb_l2=cold"s, "--tb_trace=on"s, "--tb_memory_limit=16"s, profile}) {
    const CommandResult result = run({"--tb_suite=standard", flag});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(flag + ": the cases run on the CPU"));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(path("profiles")));
}

TEST_F(Planted, AKnownSlowdownIsInTheCasesTimeAndInTheFile) {
  const std::string name = "PlantedKernel/us:3000";
  const std::vector<std::string> flags{"--tb_suite=standard", "--tb_axis=PlantedKernel.us=2900,3000", "--tb_samples=40",
                                       "--benchmark_filter=PlantedKernel"};
  std::vector<std::string> planted = flags;
  planted.push_back("--tb_plant=" + name + ":0.5");
  ASSERT_EQ(run(planted).status, 0);
  EXPECT_EQ(contents().at("context").at("tbench").at("options").at("plant"), name + ":0.5");
  std::map<std::string, double> milliseconds;
  for (const nlohmann::json& entry : entries()) {
    milliseconds[entry.at("name")] = entry.at("min_ms");
    EXPECT_EQ(entry.at("tbench").at("findings").contains("planted_delay"), entry.at("name") == name);
  }
  // The program's kernels spin at least as long as they say. A busy machine prolongs them, but not the shortest of
  // forty by half.
  EXPECT_GE(milliseconds.at("PlantedKernel/us:2900"), 2.9);
  EXPECT_LT(milliseconds.at("PlantedKernel/us:2900"), 4.3);
  EXPECT_GE(milliseconds.at(name), 4.5 - 1e-3);
}

TEST_F(Planted, APlantInACaseThatIsNotMeasuredIsRefused) {
  const CommandResult result = run({"--benchmark_filter=fault:none", "--tb_plant=Planted/fault:oom/index:1:0.05"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("'Planted/fault:oom/index:1' is not among the selected cases"));
  const CommandResult fresh =
      run({"--tb_suite=standard", "--benchmark_filter=Fresh", "--tb_plant=Fresh/fault:none/index:1:0.05"});
  EXPECT_EQ(fresh.status, 2);
  EXPECT_THAT(fresh.err, HasSubstr("first steps"));
}

}  // namespace
}  // namespace tbench::test

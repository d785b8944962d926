// The whole program against cases that crash, hang, lie and run out of memory: each gets its status, and the others are
// measured all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::HasSubstr;

class Planted : public ::testing::Test {
 protected:
  void SetUp() override {
    out_ = (std::filesystem::temp_directory_path() /
            ("tbench_planted_" + std::to_string(::getpid()) + "_" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json"))
               .string();
  }
  void TearDown() override {
    std::filesystem::remove(out_);
    std::filesystem::remove(out_ + ".journal");
  }

  CommandResult run(std::vector<std::string> flags, double interrupt_after_s = 0) const {
    flags.insert(flags.begin(), {TBENCH_PLANTED_PROGRAM, "--tb_device=cpu", "--benchmark_out=" + out_});
    return run_command(flags, interrupt_after_s);
  }
  [[nodiscard]] const std::string& out() const { return out_; }
  [[nodiscard]] nlohmann::json entries() const {
    std::ifstream stream{out_};
    return nlohmann::json::parse(stream).at("benchmarks");
  }

 private:
  std::string out_;
};

TEST_F(Planted, EveryFaultGetsItsStatusAndTheRestIsMeasured) {
  // Before and after each fault a case that is right, so that every fault has a successor.
  const CommandResult result = run({"--tb_suite=smoke", "--tb_timeout=3", "--tb_axis=Planted.index=1,2"});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::map<std::string, std::string> expected{
      {"none", "ok"},
      {"unsupported", "unsupported"},
      {"oom", "oom"},
      {"throw", "crashed"},
      {"incorrect", "incorrect"},
      {"abort", "crashed"},
      {"segfault", "crashed"},
      {"exit", "crashed"},
      {"hang", "timeout"},
      {"bad_address", "crashed"}};  // without a device even the launch fails
  std::map<std::string, int> seen;
  for (const nlohmann::json& entry : entries()) {
    const std::string fault = entry.at("tbench").at("parameters").at("fault");
    EXPECT_EQ(entry.at("tbench").at("status"), expected.at(fault)) << entry.at("name");
    EXPECT_EQ(entry.contains("real_time"), fault == "none") << entry.at("name");
    EXPECT_EQ(entry.contains("error_message"), fault != "none") << entry.at("name");
    ++seen[fault];
  }
  for (const auto& [fault, status] : expected) EXPECT_EQ(seen[fault], 2) << fault;
}

TEST_F(Planted, TheReasonSaysWhatHappened) {
  EXPECT_EQ(run({"--benchmark_filter=segfault"}).status, 1);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("Segmentation fault"));
  EXPECT_EQ(run({"--benchmark_filter=incorrect"}).status, 1);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("output[3] is 2, the reference says 1"));
  EXPECT_EQ(run({"--benchmark_filter=oom"}).status, 0);
  EXPECT_THAT(entries()[0].at("error_message"), HasSubstr("1 TiB"));
  EXPECT_EQ(entries()[0].at("tbench").at("requested_bytes"), std::int64_t{1} << 40);
}

TEST_F(Planted, AFreshProcessForEveryCaseGivesTheSame) {
  const CommandResult result = run({"--tb_isolate=case", "--benchmark_filter=fault:(none|abort|oom)"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(entries().size(), 3U);
}

TEST_F(Planted, CtrlCWritesWhatIsDoneAndExits130) {
  // Ten cases of at least 1 s each; the signal comes in the middle.
  const CommandResult result = run({"--tb_suite=full", "--tb_axis=Planted.index=1,2,3,4,5,6,7,8,9,10"}, 6.0);
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_GE(entries().size(), 1U);
  EXPECT_LT(entries().size(), 10U);
  EXPECT_THAT(result.out, HasSubstr("interrupted"));
  const CommandResult resumed = run({"--tb_suite=full", "--tb_axis=Planted.index=1,2,3", "--tb_resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(Planted, AnUnfinishedRunIsNotOverwrittenByAccident) {
  std::ofstream{out() + ".journal"} << "{}\n";
  const CommandResult result = run({"--benchmark_filter=fault:none"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--tb_resume"));
}

}  // namespace
}  // namespace tbench::test

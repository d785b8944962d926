// Tests shares of ceilings as a user gets them on the CPU. The families are made for the test: ceilings of 10^6 in
// 100 us, and cases of 10^6 in 400 us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace tbench::test {
namespace {

using ::testing::ElementsAre;

class CeilingsProgram : public InFolder {
 protected:
  [[nodiscard]] nlohmann::json run(std::vector<std::string> flags) const {
    flags.insert(flags.begin(),
                 {TBENCH_PLANTED_PROGRAM, "--tb_device=cpu", "--tb_suite=standard", "--benchmark_min_time=0.05",
                  "--benchmark_min_warmup_time=0.05", "--benchmark_out=" + out_});
    const CommandResult result = run_command(flags);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    return contents().at("benchmarks");
  }
  [[nodiscard]] nlohmann::ordered_json contents() const {
    std::ifstream stream{out_};
    return nlohmann::ordered_json::parse(stream);
  }
};

std::vector<std::string> names(const nlohmann::json& entries) {
  std::vector<std::string> all;
  for (const nlohmann::json& entry : entries) all.push_back(entry.at("name"));
  return all;
}

TEST_F(CeilingsProgram, RunFirstAndEveryCaseIsHeldAgainstItsOwn) {
  const nlohmann::json entries = run({"--tb_ceilings=on", "--benchmark_filter=Held/"});
  ASSERT_THAT(names(entries),
              ElementsAre("Ceiling/what:copy/regime:burst", "Ceiling/what:gemm_fp32/regime:burst",
                          "Ceiling/what:gemm_fp32/regime:sustained", "Held/against:copy/regime:burst",
                          "Held/against:gemm_fp32/regime:burst", "Held/against:nothing/regime:burst",
                          "Held/against:copy/regime:sustained", "Held/against:gemm_fp32/regime:sustained",
                          "Held/against:nothing/regime:sustained"));  // sustained cases follow the bursts
  const std::map<std::size_t, std::size_t> ceiling_of{{3, 0}, {4, 1}, {6, 0}, {7, 2}};
  for (const auto& [held, ceiling] : ceiling_of) {
    const bool is_copy = ceiling == 0;
    const char* const rate = is_copy ? "bytes_per_second" : "flop_per_second";
    const nlohmann::json& entry = entries[held];
    EXPECT_DOUBLE_EQ(entry.at("tbench").at("ceiling_per_second").get<double>(),
                     entries[ceiling].at(rate).get<double>());
    EXPECT_EQ(entry.at("tbench").at("work").at("ceiling"), is_copy ? "copy" : "gemm_fp32");
    // The share is 100 us / 400 us. Other work on the machine prolongs either time.
    EXPECT_NEAR(entry.at("ceiling_share").get<double>(), 0.25, 0.1) << entry.at("name");
    EXPECT_EQ(entry.at("above_ceiling"), 0);
  }
  for (const std::size_t other : {0, 1, 2, 5, 8}) {
    EXPECT_FALSE(entries[other].contains("ceiling_share")) << entries[other].at("name");
    EXPECT_FALSE(entries[other].at("tbench").contains("ceiling_per_second"));
  }
}

TEST_F(CeilingsProgram, OfTheCpuDoNotRunUnlessAsked) {
  for (const char* flag : {"--tb_ceilings=auto", "--tb_ceilings=off"}) {
    const nlohmann::json entries = run({flag, "--benchmark_filter=Held/against:copy/regime:burst"});
    EXPECT_THAT(names(entries), ElementsAre("Held/against:copy/regime:burst"));
    EXPECT_FALSE(entries[0].contains("ceiling_share"));
    EXPECT_EQ(entries[0].at("tbench").at("work").at("ceiling"), "copy");  // the case's ceiling, which was not measured
  }
}

TEST_F(CeilingsProgram, ThatAreSelectedRunFirstAndAreEnough) {
  const nlohmann::json entries = run({"--tb_ceilings=off", "--benchmark_filter=(copy|gemm_fp32)/regime:burst"});
  EXPECT_THAT(names(entries), ElementsAre("Ceiling/what:copy/regime:burst", "Ceiling/what:gemm_fp32/regime:burst",
                                          "Held/against:copy/regime:burst", "Held/against:gemm_fp32/regime:burst"));
  EXPECT_TRUE(entries[2].contains("ceiling_share"));
  EXPECT_TRUE(entries[3].contains("ceiling_share"));
}

TEST_F(CeilingsProgram, AreNotAmongTheCasesListed) {
  const CommandResult result =
      run_command({TBENCH_PLANTED_PROGRAM, "--tb_suite=standard", "--tb_ceilings=on", "--benchmark_list_tests",
                   "--benchmark_filter=Held/against:copy/regime:burst"});
  EXPECT_EQ(result.out, "Held/against:copy/regime:burst\n");
}

TEST_F(CeilingsProgram, AResumedRunGoesOnWithThoseThatItHas) {
  const nlohmann::json first = run({"--tb_ceilings=on", "--benchmark_filter=Held/against:copy/regime:burst"});
  ASSERT_EQ(first.size(), 2U);
  // The results are complete, so no ceiling is measured.
  EXPECT_EQ(run({"--tb_ceilings=on", "--tb_resume", "--benchmark_filter=Held/against:copy/regime:burst"}), first);
  const nlohmann::json all = run({"--tb_ceilings=on", "--tb_resume", "--benchmark_filter=Held/against:copy"});
  ASSERT_THAT(names(all), ElementsAre("Ceiling/what:copy/regime:burst", "Held/against:copy/regime:burst",
                                      "Held/against:copy/regime:sustained"));
  EXPECT_EQ(all[2].at("tbench").at("ceiling_per_second"), first[1].at("tbench").at("ceiling_per_second"));
}

TEST_F(CeilingsProgram, ARunResumedOnAnotherMachineMeasuresItsOwn) {
  const nlohmann::json first = run({"--tb_ceilings=on", "--benchmark_filter=Held/against:copy/regime:burst"});
  nlohmann::ordered_json file = contents();
  nlohmann::ordered_json& environment = file["context"]["tbench"]["environment"];
  const std::int64_t cores = environment["cpu_cores"];
  environment["cpu_cores"] = cores + 1;
  file["context"]["num_cpus"] = cores + 1;
  std::ofstream{out_} << file;
  const nlohmann::json all = run({"--tb_ceilings=on", "--tb_resume", "--benchmark_filter=Held/against:copy"});
  ASSERT_THAT(names(all), ElementsAre("Ceiling/what:copy/regime:burst", "Held/against:copy/regime:burst",
                                      "Held/against:copy/regime:sustained"));
  const auto machines = contents()["context"]["tbench"]["environment"]["machines"];
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].at("cpu_cores"), cores + 1);
  EXPECT_EQ(machines[1].at("cpu_cores"), cores);
  EXPECT_EQ(all[0].at("tbench").at("machine"), 1) << "the ceiling was measured again";
  EXPECT_EQ(all[1], first[1]) << "what was measured stays";
  EXPECT_EQ(all[2].at("tbench").at("machine"), 1);
  EXPECT_DOUBLE_EQ(all[2].at("tbench").at("ceiling_per_second").get<double>(),
                   all[0].at("bytes_per_second").get<double>());
  EXPECT_EQ(run({"--tb_ceilings=on", "--tb_resume", "--benchmark_filter=Held/against:copy"}), all)
      << "the results are complete";
}

TEST_F(CeilingsProgram, EveryProcessHasItsOwn) {
  const nlohmann::json all = run({"--tb_ceilings=on", "--tb_processes=2", "--benchmark_filter=Held/.*burst"});
  std::map<int, std::map<std::string, nlohmann::json>> entries;
  for (const nlohmann::json& entry : all) {
    if (entry.contains("tbench")) {
      entries[entry.at("tbench").at("repetition_index")][entry.at("name")] = entry;
    }
  }
  ASSERT_EQ(entries.size(), 2U);
  for (auto& [process, of_process] : entries) {
    EXPECT_EQ(of_process.size(), 5U);  // two ceilings, three cases
    EXPECT_DOUBLE_EQ(of_process["Held/against:copy/regime:burst"].at("tbench").at("ceiling_per_second").get<double>(),
                     of_process["Ceiling/what:copy/regime:burst"].at("bytes_per_second").get<double>())
        << "process " << process;
  }
}

}  // namespace
}  // namespace tbench::test
